//! A directory of tools: the executables in it, and in the directories of namespaces in it, and what
//! the `.json` files beside them declare.
//!
//! The directory is read once. What a model says is only a key into the list, never a path.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use rustix::fs::{Access, access};
use rustix::process::geteuid;
use serde_json::value::RawValue;

use crate::agent::schema::JsonSchema;
use crate::event::in_namespace;
use crate::format::turn::Declaration;
use crate::json;
use crate::request::PendingCall;
use crate::tools::SCHEMAS;

/// The longest name of a tool, in characters: every provider takes that.
const MAX_NAME: usize = 64;

/// The schema of a tool that has none of its own.
const ANY: &str = "{\"type\":\"object\"}";

/// The tools of a directory, by their names.
#[derive(Default)]
pub(crate) struct Toolbox(BTreeMap<String, Tool>);

/// An executable that a model may call.
pub(crate) struct Tool {
    /// The file, without links.
    pub(crate) path: PathBuf,
    /// The description that the model gets.
    pub(crate) declaration: Declaration,
    /// The schema of its arguments, if it has one.
    checked: Option<JsonSchema>,
}

impl Toolbox {
    /// Reads a directory. Calls `note` with what is passed over: files that are not executable, and
    /// other directories. Returns an error for what looks like a tool and can't be one.
    pub(crate) fn read(folder: &Path, note: &mut dyn FnMut(&str)) -> anyhow::Result<Self> {
        let mut tools = Toolbox::default();
        let folders = tools.add(folder, None, note)?;
        for path in folders {
            let shown = path.display();
            let namespace = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
            let mut own = Toolbox::default();
            let added = match is_name(&namespace) {
                true => own.add(&path, Some(&namespace), note),
                false => Ok(Vec::new()),
            };
            match added {
                Ok(_) if own.0.is_empty() => note(&format!("{shown} is a directory, not a tool")),
                Ok(_) => tools.0.append(&mut own.0),
                Err(error) => note(&format!("{shown} is passed over: {error:#}")),
            }
        }
        if tools.0.is_empty() {
            bail!("holds no tool: an executable file (`chmod +x`)");
        }
        Ok(tools)
    }

    /// Adds the tools of a directory: those of a namespace, if it is the directory of one. Returns
    /// the directories in it.
    fn add(
        &mut self,
        folder: &Path,
        namespace: Option<&str>,
        note: &mut dyn FnMut(&str),
    ) -> anyhow::Result<Vec<PathBuf>> {
        is_safe(folder)?;
        let mut paths = fs::read_dir(folder)
            .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect())
            .map(|mut paths: Vec<PathBuf>| {
                paths.sort();
                paths
            })?;
        let is_hidden = |path: &Path| {
            path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."))
        };
        paths.retain(|path| !is_hidden(path));
        let (folders, files): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| path.is_dir());
        let (declared, others): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|path| path.extension() == Some("json".as_ref()));
        let named = |name: String| match namespace {
            Some(namespace) => in_namespace(namespace, &name),
            None => name,
        };
        for path in others {
            let Some((name, tool)) = executable(&path, note)? else { continue };
            if let Some(other) = self.0.insert(named(name.clone()), tool) {
                bail!(
                    "{}: {} is a tool of the name {name} as well: rename one of them",
                    path.display(),
                    other.path.display()
                );
            }
        }
        for path in declared {
            let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
            let Some(tool) = self.0.get_mut(&named(name.clone())) else {
                bail!(
                    "{}: there is no executable {name} beside it: is it missing, or not \
                     executable (`chmod +x`)?",
                    path.display()
                );
            };
            let declared = is_safe(&path).and_then(|()| tool.declare(&path));
            declared.with_context(|| path.display().to_string())?;
        }
        Ok(folders)
    }

    /// Declares the tools as one file does: a list, or a request's `tools`, in the shape of any
    /// provider. A tool that it does not name has no declaration of its own any more. Returns an
    /// error if it declares a tool that is not there.
    pub(crate) fn declare(&mut self, path: &Path) -> anyhow::Result<()> {
        is_safe(path)?;
        let text = fs::read_to_string(path)?;
        let value = parsed(&text)?;
        let list = json::member(value.get(), "tools").unwrap_or(value.get());
        let groups = json::elements(list).context("neither a list of tools nor a request's")?;
        for tool in self.0.values_mut() {
            let name = tool.declaration.name.clone();
            tool.declaration = Declaration { name, description: None, schema: ANY.to_owned() };
            tool.checked = None;
        }
        for group in groups {
            // Gemini has lists of functions in its list.
            let inner = ["functionDeclarations", "function_declarations"];
            let inner = inner.iter().find_map(|key| json::elements(json::member(group, key)?));
            for json in inner.unwrap_or_else(|| vec![group]) {
                let of = json::member(json, "function").unwrap_or(json);
                let name =
                    json::member(of, "name").and_then(|name| serde_json::from_str(name).ok());
                let name: String = name.context("a declaration has no name")?;
                let names = self.list();
                let Some(tool) = self.0.get_mut(&name) else {
                    bail!("it declares {}, and the tools are: {names}", json::quote(&name));
                };
                tool.declare_as(json).with_context(|| name.clone())?;
            }
        }
        Ok(())
    }

    /// Returns the tool that a call is of: in its namespace, if it has one, and else in none.
    pub(crate) fn of(&self, call: &PendingCall) -> Option<&Tool> {
        let is_word = |name: &str| is_name(name);
        let is_safe = is_word(&call.name) && call.namespace.as_deref().is_none_or(is_word);
        self.get(&call.tool()).filter(|_| is_safe)
    }

    /// Returns the tool of this name, which is `NAMESPACE/NAME` for one in a namespace.
    pub(crate) fn get(&self, name: &str) -> Option<&Tool> {
        self.0.get(name)
    }

    /// Returns all names, in order, as words for people and models.
    pub(crate) fn list(&self) -> String {
        let names: Vec<_> = self.0.keys().map(String::as_str).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }

    /// Returns what a request declares, in the order of the names: tools that are in no namespace.
    pub(crate) fn declarations(&self) -> Vec<Declaration> {
        let bare = self.0.iter().filter(|(name, _)| is_name(name));
        bare.map(|(_, tool)| tool.declaration.clone()).collect()
    }
}

/// Returns the tool that a file is, and its name; nothing if it is no executable.
fn executable(path: &Path, note: &mut dyn FnMut(&str)) -> anyhow::Result<Option<(String, Tool)>> {
    let shown = path.display();
    let target = fs::canonicalize(path)
        .with_context(|| format!("{shown}: a link that leads nowhere; remove it, or correct it"))?;
    let metadata = fs::metadata(&target).with_context(|| shown.to_string())?;
    if !metadata.is_file() {
        bail!("{shown} is not a regular file");
    }
    if access(&target, Access::EXEC_OK).is_err() {
        note(&format!("{shown} is not executable: `chmod +x {shown}` makes it a tool"));
        return Ok(None);
    }
    let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    if !is_name(&name) {
        bail!(
            "{shown}: a tool's name has letters, digits, `_` and `-`, at most {MAX_NAME}: rename it"
        );
    }
    is_safe(&target)?;
    let declaration = Declaration { name: name.clone(), description: None, schema: ANY.to_owned() };
    Ok(Some((name, Tool { path: target, declaration, checked: None })))
}

/// True for the name of a tool or a namespace.
fn is_name(name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (1..=MAX_NAME).contains(&name.len()) && name.chars().all(is_word)
}

/// Fails if another than the user and root may decide what is run: by writing the file, or any
/// directory on its real path. In a sticky directory only owners replace files.
fn is_safe(path: &Path) -> anyhow::Result<()> {
    let target = fs::canonicalize(path)?;
    for (depth, part) in target.ancestors().enumerate() {
        let (shown, metadata) = (part.display(), fs::metadata(part)?);
        let (mode, owner) = (metadata.mode(), metadata.uid());
        if owner != 0 && owner != geteuid().as_raw() {
            bail!("{shown} belongs to another user, who could change what is run");
        }
        let is_sticky = depth > 0 && mode & 0o1000 != 0;
        if mode & 0o022 != 0 && !is_sticky {
            let who = if mode & 0o002 != 0 { "others" } else { "its group" };
            bail!("{shown} is writable by {who}: `chmod go-w {shown}` makes it safe to run");
        }
    }
    Ok(())
}

/// Returns a text as JSON.
fn parsed(text: &str) -> anyhow::Result<&RawValue> {
    serde_json::from_str(text).map_err(|error| anyhow!("not JSON: {}", json::misread(text, &error)))
}

impl Tool {
    /// Reads what a file declares: MCP's, OpenAI's or Anthropic's shape, or a bare JSON Schema.
    fn declare(&mut self, path: &Path) -> anyhow::Result<()> {
        let text = fs::read_to_string(path)?;
        let value = parsed(&text)?;
        self.declare_as(value.get())
    }

    /// Takes what a declaration says.
    fn declare_as(&mut self, json: &str) -> anyhow::Result<()> {
        let json = json::member(json, "function").unwrap_or(json);
        if !json.starts_with('{') {
            bail!("no JSON object");
        }
        let text = |key: &str| json::string(json::member(json, key)?);
        let schema = SCHEMAS.iter().find_map(|key| json::member(json, key));
        let is_declaration = schema.is_some()
            || (text("name").is_some() && json::member(json, "properties").is_none());
        if let Some(name) =
            text("name").filter(|name| is_declaration && *name != self.declaration.name)
        {
            bail!(
                "it declares {}, not {}: rename one of them",
                json::quote(&name),
                self.declaration.name
            );
        }
        let schema = schema.unwrap_or(if is_declaration { ANY } else { json });
        let checked = JsonSchema::new(schema)?;
        self.declaration.description = text("description");
        self.declaration.schema = schema.to_owned();
        self.checked = Some(checked);
        Ok(())
    }

    /// Returns where arguments do not fit the schema, one place a line; nothing if they fit.
    pub(crate) fn misfit(&self, arguments: &str) -> Option<String> {
        self.checked.as_ref()?.misfit(arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use tempfile::TempDir;

    /// A folder of executables.
    fn folder(names: &[&str]) -> TempDir {
        let folder = TempDir::new().unwrap();
        for name in names {
            write(&folder, name, "#!/bin/sh\n", 0o755);
        }
        folder
    }

    fn write(folder: &TempDir, name: &str, text: &str, mode: u32) {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn read(folder: &TempDir) -> (Result<Toolbox, String>, Vec<String>) {
        let mut notes = Vec::new();
        let tools = Toolbox::read(folder.path(), &mut |note| notes.push(note.to_owned()));
        (tools.map_err(|error| format!("{error:#}")), notes)
    }

    #[track_caller]
    fn check(folder: &TempDir, names: &[&str], noted: &[&str]) {
        let (tools, notes) = read(folder);
        assert_eq!(tools.unwrap().list(), names.join(", "));
        assert_eq!(notes.len(), noted.len(), "{notes:?}");
        assert!(notes.iter().zip(noted).all(|(note, part)| note.contains(part)), "{notes:?}");
    }

    #[track_caller]
    fn check_error(folder: &TempDir, parts: &[&str]) {
        let error = read(folder).0.err().unwrap();
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }

    #[test]
    fn tools_are_executables_without_their_extensions() {
        let tools = folder(&["b.sh", "a", ".hidden"]);
        write(&tools, "README.md", "", 0o644);
        fs::create_dir(tools.path().join("lib")).unwrap();
        symlink("b.sh", tools.path().join("c")).unwrap();
        check(&tools, &["a", "b", "c"], &["README.md is not executable", "lib is a directory"]);
    }

    #[test]
    fn what_cannot_be_a_tool_says_why() {
        check_error(&folder(&[]), &["holds no tool"]);
        check_error(&folder(&["a.sh", "a.py"]), &["a.py is a tool of the name a as well"]);
        check_error(&folder(&["a b"]), &["a b: a tool's name has letters"]);
        check_error(&folder(&["a.b.sh"]), &["rename it"]);
        let tools = folder(&["a"]);
        symlink("nowhere", tools.path().join("b")).unwrap();
        check_error(&tools, &["b: a link that leads nowhere"]);
        let tools = folder(&[]);
        write(&tools, "a", "", 0o757);
        check_error(&tools, &["a is writable by others", "chmod go-w"]);
        for (name, mode) in [("a", 0o775), ("a.json", 0o666), ("a.json", 0o664)] {
            let tools = folder(&["a"]);
            write(&tools, name, "{}", mode);
            check_error(&tools, &[name, "is writable by"]);
        }
        let (tools, other) = (folder(&[]), folder(&["a"]));
        symlink(other.path().join("a"), tools.path().join("a")).unwrap();
        check(&tools, &["a"], &[]);
        fs::set_permissions(other.path(), fs::Permissions::from_mode(0o777)).unwrap();
        check_error(&tools, &["is writable by others"]);
        fs::set_permissions(other.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        check(&tools, &["a"], &[]);
        let tools = folder(&["a"]);
        fs::set_permissions(tools.path(), fs::Permissions::from_mode(0o777)).unwrap();
        check_error(&tools, &["is writable by others"]);
        let tools = folder(&["a"]);
        write(&tools, "b.json", "{}", 0o644);
        check_error(&tools, &["b.json: there is no executable b"]);
        write(&tools, "b", "", 0o644);
        check_error(&tools, &["b.json: there is no executable b"]);
    }

    /// The declaration of a tool `f` by this file, and if an integer `n` fits it.
    #[track_caller]
    fn check_shape(json: &str, description: Option<&str>) {
        let tools = folder(&["f"]);
        write(&tools, "f.json", json, 0o644);
        let tools = read(&tools).0.unwrap();
        let tool = tools.get("f").unwrap();
        assert_eq!(tool.declaration.description.as_deref(), description, "{json}");
        assert!(tool.declaration.schema.starts_with("{\"type\""), "{json}");
        assert_eq!(tool.misfit("{\"n\":1}"), None, "{json}");
        let misfit = tool.misfit("{\"n\":\"secret\"}").unwrap();
        assert!(misfit.starts_with("/n: ") && misfit.contains("integer"), "{misfit}");
    }

    #[test]
    fn every_shape_of_declaration() {
        let schema = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
        check_shape(
            &format!(r#"{{"name":"f","description":"d","inputSchema":{schema}}}"#),
            Some("d"),
        );
        check_shape(&format!(r#"{{"description":"d","input_schema":{schema}}}"#), Some("d"));
        check_shape(
            &format!(
                r#"{{"type":"function","function":{{"name":"f","description":"d","parameters":{schema}}}}}"#
            ),
            Some("d"),
        );
        check_shape(&format!(r#"{{"type":"function","name":"f","parameters":{schema}}}"#), None);
        check_shape(schema, None);
    }

    #[test]
    fn declarations_that_cannot_be_used() {
        for (json, part) in [
            ("{", "not JSON"),
            ("[]", "no JSON object"),
            (r#"{"name":"g","inputSchema":{}}"#, "it declares \"g\", not f"),
            (r#"{"type":"text"}"#, "its schema can't be used"),
            (r#"{"$ref":"http://localhost/x"}"#, "its schema can't be used"),
        ] {
            let tools = folder(&["f"]);
            write(&tools, "f.json", json, 0o644);
            check_error(&tools, &["f.json", part]);
        }
    }
}
