//! Real coding agents against `replay --listen`, in the versions that npm has today: each makes a
//! file through a mocked model, and its output is read. They are installed from the network, so this
//! runs only if it is asked for: `cargo test --test it agents -- --ignored --nocapture`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin;
use serde_json::{Value, json};

use crate::agents::scene::{Scene, calls, says};
use crate::captures::listening::Server;

/// An agent: how it is started against a provider, and what it calls a shell.
struct Agent {
    package: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
    /// Variables, and files in its home, with `URL` for the provider's address.
    variables: &'static [(&'static str, &'static str)],
    files: &'static [(&'static str, &'static str)],
    /// The tool that runs a command, and what it takes beside.
    shell: (&'static str, &'static str, &'static [(&'static str, &'static str)]),
    /// The format of its output.
    format: &'static str,
}

const PROMPT: &str = "Make the file made.txt";

const AGENTS: &[Agent] = &[
    Agent {
        package: "@anthropic-ai/claude-code",
        program: "claude",
        arguments: &[
            "-p", PROMPT, "--output-format", "stream-json", "--verbose",
            "--include-partial-messages", "--dangerously-skip-permissions",
        ],
        variables: &[
            ("ANTHROPIC_BASE_URL", "{url}"),
            ("ANTHROPIC_API_KEY", "none"),
            ("IS_SANDBOX", "1"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ],
        files: &[],
        shell: ("Bash", "command", &[("description", "Make it")]),
        format: "claude-code",
    },
    Agent {
        package: "@openai/codex",
        program: "codex",
        arguments: &[
            "exec",
            "--json",
            "--skip-git-repo-check",
            "--dangerously-bypass-approvals-and-sandbox",
            PROMPT,
        ],
        variables: &[("MOCK_KEY", "none")],
        files: &[(
            ".codex/config.toml",
            "model_provider = \"mock\"\nmodel = \"gpt-5.5\"\ncheck_for_update_on_startup = false\n\
             [model_providers.mock]\nname = \"mock\"\nbase_url = \"{url}/v1\"\nenv_key = \"MOCK_KEY\"\n\
             wire_api = \"responses\"\n",
        )],
        shell: ("exec_command", "cmd", &[]),
        format: "codex",
    },
    Agent {
        package: "@google/gemini-cli",
        program: "gemini",
        arguments: &["-p", PROMPT, "-o", "stream-json", "--yolo", "-m", "gemini-2.5-pro"],
        variables: &[
            ("GOOGLE_GEMINI_BASE_URL", "{url}"),
            ("GEMINI_API_KEY", "none"),
            ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
        ],
        files: &[(
            ".gemini/settings.json",
            "{\"security\":{\"auth\":{\"selectedType\":\"gemini-api-key\"}},\
             \"telemetry\":{\"enabled\":false},\"privacy\":{\"usageStatisticsEnabled\":false}}",
        )],
        shell: ("run_shell_command", "command", &[("description", "Make it")]),
        format: "gemini-cli",
    },
    Agent {
        package: "@qwen-code/qwen-code",
        program: "qwen",
        arguments: &["-p", PROMPT, "-o", "stream-json", "--include-partial-messages", "--yolo"],
        variables: &[
            ("OPENAI_BASE_URL", "{url}/v1"),
            ("OPENAI_API_KEY", "none"),
            ("OPENAI_MODEL", "qwen3-coder-plus"),
        ],
        files: &[(
            ".qwen/settings.json",
            "{\"security\":{\"auth\":{\"selectedType\":\"openai\"}},\
             \"privacy\":{\"usageStatisticsEnabled\":false}}",
        )],
        shell: ("run_shell_command", "command", &[("description", "Make it")]),
        format: "claude-code",
    },
    Agent {
        package: "opencode-ai",
        program: "opencode",
        arguments: &["run", "--format", "json", "--title", "made", "-m", "mock/m", PROMPT],
        variables: &[("OPENCODE_DISABLE_AUTOUPDATE", "1"), ("OPENCODE_DISABLE_MODELS_FETCH", "1")],
        files: &[(
            ".config/opencode/opencode.json",
            "{\"permission\":\"allow\",\"provider\":{\"mock\":{\"npm\":\"@ai-sdk/openai-compatible\",\
             \"options\":{\"baseURL\":\"{url}/v1\",\"apiKey\":\"none\"},\
             \"models\":{\"m\":{\"limit\":{\"context\":100000,\"output\":8000}}}}}}",
        )],
        shell: ("bash", "command", &[("description", "Make it")]),
        format: "opencode",
    },
];

/// The longest time that a run may take.
const PATIENCE: Duration = Duration::from_secs(90);

/// Installs a release of a package, in a folder of the build's own. Returns where its programs are.
fn install(package: &str, version: &str) -> PathBuf {
    let folder = cargo_bin("toolstream").parent().unwrap().join("agents");
    let folder = folder.join(package.rsplit('/').next().unwrap());
    let mut npm = Command::new("npm");
    npm.args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"]).arg(&folder);
    let status = npm.arg(format!("{package}@{version}")).status().unwrap();
    assert!(status.success(), "{package} cannot be installed");
    folder.join("node_modules/.bin")
}

/// Runs an agent in a home and a folder of its own. Returns its output.
fn run(agent: &Agent, node: &Path, programs: &Path, url: &str, folder: &Path) -> String {
    for name in ["home", "work"] {
        fs::create_dir_all(folder.join(name)).unwrap();
    }
    for (path, text) in agent.files {
        let path = folder.join("home").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text.replace("{url}", url)).unwrap();
    }
    let (out, err) = (folder.join("out"), folder.join("err"));
    let mut command = Command::new(programs.join(agent.program));
    command.args(agent.arguments).current_dir(folder.join("work")).env_clear();
    let path = format!("{}:{}", node.display(), std::env::var("PATH").unwrap());
    command.env("PATH", path).env("HOME", folder.join("home"));
    command.envs([
        ("CI", "1"),
        ("NO_COLOR", "1"),
        ("DO_NOT_TRACK", "1"),
        ("NO_PROXY", "127.0.0.1"),
    ]);
    command.envs(agent.variables.iter().map(|(name, value)| (name, value.replace("{url}", url))));
    command.stdin(Stdio::null());
    command.stdout(fs::File::create(&out).unwrap()).stderr(fs::File::create(&err).unwrap());
    let (mut child, begun) = (command.spawn().unwrap(), Instant::now());
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > PATIENCE {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let status = child.wait().unwrap();
    let said = fs::read_to_string(err).unwrap();
    assert!(status.success(), "{} {status}: {said}", agent.package);
    fs::read_to_string(out).unwrap()
}

/// A call of the shell and a text, once a failure has been tried again: the agent does what it is
/// told, and what it prints is read whole. What is not known of it is printed.
#[test]
#[ignore = "installs agents from the network"]
fn the_agents_of_today_are_answered() {
    if Command::new("npm").arg("--version").output().is_err() {
        eprintln!("there is no npm: nothing is tested");
        return;
    }
    // Some need a newer one than many systems have.
    let node = install("node", "24");
    let mut wrong = Vec::new();
    for agent in AGENTS {
        let programs = install(agent.package, "latest");
        let (tool, key, others) = agent.shell;
        let mut arguments = json!({key: "echo made > made.txt"});
        others.iter().for_each(|(name, text)| arguments[name] = json!(text));
        if agent.program == "qwen" {
            arguments["is_background"] = false.into();
        }
        let call = calls(&[("call_made", tool, &arguments.to_string())]);
        let scene = Scene::new(&[call, says("It is made.", "stop")]);
        let server = Server::start(&scene, &["--fail", "1:503", "--log", "log", "1.sse", "2.sse"]);
        let url = format!("http://{}", server.address);
        let output = run(agent, &node, &programs, &url, scene.folder());
        let made = fs::read_to_string(scene.path("work/made.txt")).unwrap_or_default();
        scene.write("output", &output);
        let read = scene.run(&["classify", "output"]);
        let ran: Vec<&Value> = read
            .lines
            .iter()
            .filter_map(|line| line["tool_calls"].as_array())
            .flatten()
            .filter(|call| call["executor"] == "agent")
            .collect();
        let formats: BTreeSet<&str> =
            read.lines.iter().filter_map(|line| line["format"].as_str()).collect();
        let text: String = read.lines.iter().filter_map(|line| line["text"].as_str()).collect();
        eprintln!(
            "{}: {}",
            agent.package,
            if read.err.is_empty() { "all known" } else { &read.err }
        );
        let is_right = made == "made\n"
            && formats == BTreeSet::from([agent.format])
            && ran.len() == 1
            && text.ends_with("It is made.");
        if !is_right {
            wrong.push(format!("{}: {made:?} {}", agent.package, read.out));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
