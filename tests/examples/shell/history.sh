#!/bin/sh
# A chat that goes on: history.sh CHAT.json, a question a line. What failed leaves no trace in the file.
while printf '> ' >&2 && IFS= read -r words; do
    [ -n "$words" ] || continue
    printf '%s' "$words" |
        toolstream agent --show -i "$1" --for "$FORMAT" --model "$MODEL" --system "Be brief." --user - -- \
            curl -isSN "$URL" -H @headers --json @- || echo "That did not count: ask again." >&2
done
