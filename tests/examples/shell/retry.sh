#!/bin/sh
# Sends request.json until the answer is whole, at most five times, and prints that one alone.
for seconds in 1 2 4 8 -; do
    answer=$(curl -isSN "$URL" -H @headers --json @request.json | toolstream show)
    case $? in
        0) printf '%s\n' "$answer"; exit ;;
        4|9) [ "$seconds" = - ] || sleep "$seconds" ;;
        *) break ;;
    esac
done
exit 1
