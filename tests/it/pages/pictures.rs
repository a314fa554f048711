//! README's pictures: what a terminal showed, drawn. `UPDATE_FIXTURES=pictures` draws them anew.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use crate::agents::scene::{Scene, calls, says};
use crate::captures::listening::Server;
use crate::case::{is_updated, root, updated};
use crate::pages::cli::typed;

/// The columns of the terminal.
const COLUMNS: usize = 84;

/// The measures of a character and of the frame, in pixels.
const WIDTH: f64 = 8.43;
const HEIGHT: usize = 20;
const MARGIN: usize = 18;

/// The seconds that a character takes to appear.
const PACE: f64 = 0.018;

const STYLE: &str = "\
svg{--bg:#f6f8fa;--line:#d0d7de;--fg:#1f2328;--dim:#656d76;--red:#cf222e;--code:#0550ae}
@media(prefers-color-scheme:dark){
svg{--bg:#161b22;--line:#30363d;--fg:#e6edf3;--dim:#8b949e;--red:#ff7b72;--code:#79c0ff}}
rect{fill:var(--bg);stroke:var(--line)}
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;white-space:pre;fill:var(--fg)}
.b{font-weight:bold}.d{fill:var(--dim)}.r{fill:var(--red)}.c{fill:var(--code)}
tspan{animation:come .01s both}@keyframes come{from{fill-opacity:0}}
@media(prefers-reduced-motion:reduce){tspan{animation:none}}
";

/// Runs a line of shell on a terminal, and types each answer once its question is there. Returns what
/// the terminal showed; nothing if there is no terminal to be had.
fn shown(scene: &Scene, line: &str, answers: &[(&str, &str)], url: &str) -> Option<String> {
    let has = |name: &str| Command::new(name).arg("--version").output().is_ok();
    if !["script", "stty", "curl", "jq"].iter().all(|name| has(name)) {
        eprintln!("script, stty, curl or jq is missing: nothing is tested");
        return None;
    }
    let folder = assert_cmd::cargo::cargo_bin("toolstream").parent().unwrap().to_owned();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("script");
    command.args(["-qec", &format!("stty cols {COLUMNS}; {line}"), "/dev/null"]);
    command.current_dir(scene.folder()).env("PATH", path).env("URL", url).env_remove("NO_COLOR");
    Some(typed(&mut command, answers)?.replace('\r', ""))
}

/// A line of a terminal: its characters, each with the class of its style.
type Line = Vec<(char, &'static str)>;

/// The lines that a terminal of so many columns has of a text with escape sequences for styles.
fn lines(text: &str) -> Vec<Line> {
    let (mut lines, mut style) = (vec![Line::new()], "");
    let mut chars = text.trim_end().chars();
    while let Some(c) = chars.next() {
        match c {
            '\x1b' => {
                let code: String = chars.by_ref().skip(1).take_while(|c| *c != 'm').collect();
                style = match code.as_str() {
                    "0" => "",
                    "1" => "b",
                    "2" => "d",
                    "31" => "r",
                    "36" => "c",
                    other => panic!("no style is {other}"),
                };
            }
            '\n' => lines.push(Line::new()),
            c => {
                if lines.last().unwrap().len() == COLUMNS {
                    lines.push(Line::new());
                }
                lines.last_mut().unwrap().push((c, style));
            }
        }
    }
    while lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    }
    lines
}

/// Draws what a command showed. Words appear one after another.
fn drawn(command: &str, shown: &str, about: &str) -> String {
    let shown = lines(shown);
    let mut all = vec![format!("$ {command}").chars().map(|c| (c, "b")).collect::<Line>()];
    all.extend(shown);
    let (width, height) = (
        (COLUMNS as f64 * WIDTH).ceil() as usize + 2 * MARGIN,
        all.len() * HEIGHT + 2 * MARGIN - 4,
    );
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         role=\"img\" aria-label=\"{about}\">\n<style>\n{STYLE}</style>\n\
         <rect x=\".5\" y=\".5\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n",
        width - 1,
        height - 1,
    );
    let mut at = 0;
    for (number, line) in all.iter().enumerate() {
        let y = MARGIN + 13 + number * HEIGHT;
        write!(svg, "<text x=\"{MARGIN}\" y=\"{y}\">").unwrap();
        let is_command = number == 0;
        for word in line.chunk_by(|one, next| one.1 == next.1 && (is_command || one.0 != ' ')) {
            let text: String = word.iter().map(|(c, _)| *c).collect();
            let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            let class = match word[0].1 {
                "" => String::new(),
                class => format!(" class=\"{class}\""),
            };
            write!(
                svg,
                "<tspan{class} style=\"animation-delay:{:.2}s\">{text}</tspan>",
                at as f64 * PACE
            )
            .unwrap();
            at += if is_command { 20 } else { word.len() };
        }
        svg.push_str("</text>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

/// Holds a picture to what a command shows now.
#[track_caller]
fn check(name: &str, command: &str, shown: &str, about: &str) {
    let path = root().join(format!(".github/{name}.svg"));
    let svg = drawn(command, shown, about);
    if updated().is_some_and(|part| is_updated(&part, "pictures")) {
        return fs::write(path, svg).unwrap();
    }
    let kept = fs::read_to_string(path).unwrap_or_default();
    assert!(
        kept == svg,
        "{name}: UPDATE_FIXTURES=pictures cargo test --test it pictures; now:\n{shown}"
    );
}

#[test]
fn an_answer_is_shown() {
    let scene = Scene::new(&[]);
    scene.write(
        "answer.sse",
        &fs::read_to_string(root().join("tests/examples/tour/trip.sse")).unwrap(),
    );
    let Some(shown) = shown(&scene, "toolstream show answer.sse", &[], "") else { return };
    let command = "curl -sSN \"$URL\" -H @headers --json @request.json | toolstream show";
    check("show", command, &shown, "toolstream shows an answer");
}

#[test]
fn an_agent_asks_before_it_runs_a_tool() {
    let call = calls(&[("a", "search_notes", "{\"query\":\"Oslo\"}")]);
    let scene = Scene::new(&[call, says("Your notes say **Tuesday**, from platform `4`.", "stop")]);
    let scene = scene.tool("search_notes", "echo 'trips.md: Oslo on Tuesday, 10:20, platform 4'");
    let server = Server::start(&scene, &["1.sse", "2.sse"]);
    let url = format!("http://{}/v1/chat/completions", server.address);
    let start = "toolstream agent --show --with text,calls,results --tools ./tools --user 'When do I travel?'";
    let line = format!("{start} request.json -- curl -sSN \"$URL\" --json @-");
    let Some(shown) = shown(&scene, &line, &[("[y/N]", "y\n")], &url) else { return };
    let command = "toolstream agent --show --tools ./tools request.json -- curl -sSN \"$URL\" …";
    check("agent", command, &shown, "an agent asks before it runs a tool, runs it, and answers");
}

#[test]
fn a_cassette_is_classified() {
    let scene = Scene::new(&[]);
    let cassette = fs::read_to_string(root().join("fixtures/cassette/vcr/ruby.cassette")).unwrap();
    scene.write("cassette.yaml", &cassette);
    let command = "toolstream classify cassette.yaml | jq -cM '[.file, .type, .model]'";
    // What is said on standard error may come between the lines of jq.
    let line = format!("{}; cat notes", command.replace(" |", " 2> notes |"));
    let Some(shown) = shown(&scene, &line, &[], "") else { return };
    check("cassette", command, &shown, "toolstream classifies the exchanges of a cassette");
}
