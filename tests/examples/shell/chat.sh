#!/bin/sh
# Asks any model: echo "Why is the sky blue?" | chat.sh
exec toolstream agent --show --for "$FORMAT" --model "$MODEL" --user - -- \
    curl -isSN "$URL" -H @headers --json @-
