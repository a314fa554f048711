#!/bin/sh
# The tools of llm-functions as they are: bin/NAME takes its arguments as JSON in $1, functions.json declares them all.
exec toolstream agent --show --tools bin --declare functions.json --args argv --approve "${APPROVE:-ask}" \
    --env LLM_OUTPUT,OPENWEATHER_API_KEY --for "$FORMAT" --model "$MODEL" --user "$1" \
    -- curl -isSN "$URL" -H @headers --json @-
