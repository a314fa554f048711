//! The programs that people run models with on their own machine.

use crate::dressing::spec::{Program, Thought};

/// Every program that is known. What two rows have in common is the first one's.
pub static PROGRAMS: &[Program] = &[
    Program {
        name: "ollama",
        about: "ollama run",
        link: "https://github.com/ollama/ollama/blob/main/cmd/cmd.go",
        // A spinner, on a terminal.
        begins: &[
            "\x1b[?2026h{lines}\x1b[2K\x1b[1G{[}\x1b[?25h{]}",
            "\x1b[?25l{lines}\x1b[2K\x1b[1G{[}\x1b[?25h{]}",
        ],
        thought: Some(Thought { open: "Thinking...\n", close: "...done thinking.\n{[}\n{]}" }),
        // With --verbose, on standard error.
        ends: &["total duration: {*}\nload duration: {*}\n\
             {[}prompt eval count: {input} token(s)\n{]}\
             {[}prompt eval duration: {*}\n{]}{[}prompt eval rate: {*}\n{]}\
             eval count: {output} token(s)\neval duration: {*}\neval rate: {*}\n"],
        ..Program::EMPTY
    },
    Program {
        name: "llama-cli",
        about: "llama-cli of llama.cpp, with -st",
        link: "https://github.com/ggml-org/llama.cpp/blob/master/tools/cli/cli.cpp",
        // With a spinner; with --color; with --simple-io.
        begins: &[
            "Loading model... |{lines}\navailable commands:\n{lines}\n> {prompt}\n|\x08{*} \x08",
            "Loading model... {lines}\navailable commands:\n{lines}\n\
             \x1b[1m\x1b[32m> {prompt}\x1b[0m\n{[}|\x08{*} \x08{]}",
            "Loading model... \n{lines}\navailable commands:\n{lines}\n> {prompt}\n\n",
        ],
        thought: Some(Thought { open: "[Start thinking]\n", close: "[End thinking]\n{[}\n{]}" }),
        ends: &["{[}[ Prompt: {*} t/s | Generation: {*} t/s ]\n\n{]}Exiting...\n"],
        always_ends: true,
        ..Program::EMPTY
    },
    Program {
        name: "llama-completion",
        about: "llama-completion of llama.cpp",
        link: "https://github.com/ggml-org/llama.cpp/blob/master/tools/completion/completion.cpp",
        ends: &[" [end of text]\n", "> EOF by user\n"],
        ends_are_stops: true,
        ..Program::EMPTY
    },
    Program {
        name: "mlx_lm",
        aliases: &["mlx_lm.generate"],
        about: "mlx_lm.generate",
        link: "https://github.com/ml-explore/mlx-lm/blob/main/mlx_lm/generate.py",
        begins: &["==========\n"],
        ends: &[
            "==========\nPrompt: {input} tokens, {*} tokens-per-sec\n\
             Generation: {output} tokens, {*} tokens-per-sec\nPeak memory: {*} GB\n",
            "==========\nNo text generated for this prompt\n",
        ],
        always_ends: true,
        ..Program::EMPTY
    },
    Program {
        name: "mlx_lm.chat",
        about: "mlx_lm.chat",
        link: "https://github.com/ml-explore/mlx-lm/blob/main/mlx_lm/chat.py",
        begins: &[
            "[INFO] Starting chat session with {*}.\nThe command list:\n{lines}\n>> ",
            "System prompt loaded from {*}\n\
             [INFO] Starting chat session with {*}.\nThe command list:\n{lines}\n>> ",
        ],
        prompt: ">> ",
        ..Program::EMPTY
    },
    Program {
        name: "vllm",
        aliases: &["vllm chat", "vllm complete"],
        about: "vllm chat, vllm complete",
        link: "https://github.com/vllm-project/vllm/blob/main/vllm/entrypoints/cli/openai.py",
        begins: &["Using model: {*}\n\
             {[}Please enter a message for the chat model:\n> {]}\
             {[}Please enter prompt to complete:\n> {]}"],
        ends: &["TTFT: {*} ms\nTPS: {*} tokens/s ({output} tokens in {*}s)\n"],
        prompt: "> ",
        ..Program::EMPTY
    },
    Program {
        name: "lms",
        aliases: &["lmstudio"],
        about: "lms chat of LM Studio, with --stats",
        link: "https://github.com/lmstudio-ai/lms/blob/main/src/subcommands/chat",
        ends: &["{[}\n{]}{[}\n{]}Prediction Stats:\n Stop Reason: {reason}\n Tokens/Second: {*}\n\
             {[} Time to First Token: {*}\n{]}\
             {[} Prompt Tokens: {input}\n{]}{[} Predicted Tokens: {output}\n{]}\
             {[} Total Tokens: {total}\n{]}"],
        ..Program::EMPTY
    },
    Program {
        name: "docker-model",
        aliases: &["docker model run"],
        about: "docker model run",
        link: "https://github.com/docker/model-runner/blob/main/cmd/cli/commands/run.go",
        thought: Some(Thought { open: "Thinking:\n", close: "\n--\n\n" }),
        ends: &["{[}\n{]}Token usage: {input} prompt + {output} completion = {total} total\n"],
        ..Program::EMPTY
    },
    Program {
        name: "ramalama",
        about: "ramalama run, ramalama chat",
        link: "https://github.com/containers/ramalama/blob/main/ramalama/chat.py",
        begins: &["\r"],
        ..Program::EMPTY
    },
    Program {
        name: "foundry",
        aliases: &["foundry-local"],
        about: "foundry model run of Foundry Local",
        link: "https://learn.microsoft.com/azure/foundry-local/reference/reference-cli",
        begins: &[
            "Model {*} was found in the local cache.\n{lines}\
             Interactive mode, please enter your prompt\n> {prompt}🤖 ",
            "Interactive Chat. Enter /? or /help for help.\n{lines}\
             Interactive mode, please enter your prompt\n> {prompt}🤖 ",
            "Interactive mode, please enter your prompt\n> {prompt}🤖 ",
        ],
        prompt: "> ",
        ..Program::EMPTY
    },
    Program {
        name: "llm",
        aliases: &["llm chat"],
        about: "llm chat",
        link: "https://llm.datasette.io/en/stable/usage.html",
        begins: &["Chatting with {*}\nType 'exit' or 'quit' to exit\n{lines}> "],
        prompt: "> ",
        ..Program::EMPTY
    },
];
