#!/bin/bash
# The text and its tokens in variables of the shell. jq's @sh quotes each value, whatever is in it. Its @tsv would
# change them: a line end becomes the two characters \n, and `read` skips a field that is empty.
summary=$(curl -isSN "$URL" -H @headers --json @request.json | toolstream classify --exit-code) || exit
source <(jq -r '@sh "text=\(.text) input=\(.usage.input_tokens) output=\(.usage.output_tokens)"' <<< "$summary")
printf '%s\n' "$text"
echo "$input tokens in, $output out" >&2
