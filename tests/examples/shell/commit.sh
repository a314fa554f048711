#!/bin/sh
# Commits what is staged, with a message that a model wrote. Half a message, or a refusal, commits nothing.
git diff --cached --quiet && { echo "nothing is staged" >&2; exit 1; }
message=$(git diff --cached | toolstream agent --show --for "$FORMAT" --model "$MODEL" --user - \
    --system "Write the commit message of this diff: a subject of at most 60 characters, imperative. No quotes." \
    -- curl -isSN "$URL" -H @headers --json @-) && git commit -e -m "$message"
