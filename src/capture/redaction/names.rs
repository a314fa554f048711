//! The names that secrets go by. The marks in the tables are those of `event/secrets.rs`.

use std::sync::LazyLock;

use memchr::memmem;

/// Where a name says that its value is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SecretPlace {
    /// Everywhere: in heads, members, queries of URLs, and where it is set.
    Everywhere,
    /// In heads and members, where it says whose the answer is.
    Owner,
    /// In queries of URLs.
    Query,
    /// In queries of URLs, and where its value is in quotation marks: the name is a word.
    Quoted,
}

/// A name of secrets: the ends of such names, in lower case, letters and digits alone.
pub(super) struct Name {
    pub(super) what: &'static str,
    /// None if only variables of an environment have it.
    place: Option<SecretPlace>,
    /// True if these are all of the name, and not its end.
    is_whole: bool,
    ends: &'static [&'static str],
}

const fn ends(what: &'static str, ends: &'static [&'static str]) -> Name {
    Name { what, place: Some(SecretPlace::Everywhere), is_whole: false, ends }
}

const fn whole(what: &'static str, place: SecretPlace, ends: &'static [&'static str]) -> Name {
    Name { what, place: Some(place), is_whole: true, ends }
}

const fn variable(what: &'static str, ends: &'static [&'static str]) -> Name {
    Name { what, place: None, is_whole: true, ends }
}

/// Every name. The first that fits counts.
const NAMES: &[Name] = &[
    ends("a key", &["apikey", "accesskey", "accesskeyid", "secretkey", "authkey"]), // G, D
    ends("a key", &["privatekey", "privkey", "servicekey", "accountkey", "clientkey"]), // D
    ends("a key", &["secretkeybase", "functionskey"]),                              // P
    ends("a key", &["databasekey", "dbkey", "subscriptionkey", "signingkey"]),      // D, P
    ends("a key", &["encryptionkey", "masterkey", "sharedkey", "storagekey", "sessionkey"]), // G, P
    ends("a key", &["openaikey", "anthropickey", "geminikey", "azurekey", "sshkey", "hmackey"]), // T
    ends("a token", &["token", "jwt"]), // G, R
    variable("a token", &["pat"]),      // G
    ends("a secret", &["secret", "codeverifier", "clientassertion", "jsessionid", "phpsessid"]), // G, D, R, P
    variable("a secret", &["sessionid"]), // P
    ends(
        "a password",
        &[
            "password", "passwd", "passphrase", "pwd", "databasepass", "dbpass", "userpass",
            "smtppass", "mailpass", "rootpass", "adminpass", "mysqlpass", "redispass", "proxypass",
            "passcode", "dbpw", "bindpw", "ldappw", "smtppw", "userpw", "rootpw", "adminpw",
        ],
    ), // G, D
    whole("a password", SecretPlace::Quoted, &["pass"]), // D
    ends("credentials", &["credential", "authorization"]), // G, R
    whole("credentials", SecretPlace::Everywhere, &["auth", "bearer", "heliconeauth", "xauth"]), // G, P
    ends("a cookie", &["cookie"]),                   // R
    ends("a signature", &["sharedaccesssignature"]), // P
    ends("a connection", &["connectionstring", "databaseurl", "webhookurl"]), // T
    variable("a connection", &["dsn"]),              // P
    variable("a password", &["creds"]),              // D
    whole("an organisation", SecretPlace::Owner, &["organizationid", "orgid", "organizationuuid"]), // P
    whole(
        "an organisation",
        SecretPlace::Owner,
        &["openaiorganization", "anthropicorganizationid"],
    ), // P
    whole("a project", SecretPlace::Owner, &["projectid", "openaiproject", "xgooguserproject"]), // P
    whole("an account", SecretPlace::Owner, &["accountid", "accountuuid", "tenantid"]), // P
    whole("a workspace", SecretPlace::Owner, &["workspaceid"]),                         // P
    whole("a key", SecretPlace::Query, &["key"]),                                       // G, P
    whole(
        "a signature",
        SecretPlace::Query,
        &["sig", "signature", "xamzsignature", "xgoogsignature"],
    ), // P
];

/// The ends of names that are those of text, of counts, or of a place in a list.
const NO_SECRETS: &[&str] = &[
    "pagetoken", "nexttoken", "eostoken", "bostoken", "padtoken", "unktoken", "septoken",
    "clstoken", "masktoken", "stoptoken", "specialtoken", "decodedtoken", "allowcredential",
    "withcredential",
];

/// The names above, by the last three letters of each and of its plural, in their order.
struct ByEnd {
    /// The number of the list for these letters, from 1; 0 if no name ends so.
    lists: Vec<u8>,
    rows: Vec<Vec<(&'static Name, &'static [u8])>>,
}

static BY_END: LazyLock<ByEnd> = LazyLock::new(|| {
    let mut by_end = ByEnd { lists: vec![0; 1 << 15], rows: Vec::new() };
    let known = NAMES.iter().flat_map(|row| row.ends.iter().map(move |end| (Some(row), *end)));
    // The last ones are names of pairs of members.
    for (row, end) in known.chain([(None, "name"), (None, "key"), (None, "value")]) {
        for spelled in [end.to_owned(), format!("{end}s")] {
            let letters = last_letters(spelled.as_bytes());
            let Some(list) = letters.and_then(|at| by_end.lists.get_mut(at)) else { continue };
            if *list == 0 {
                by_end.rows.push(Vec::new());
                *list = by_end.rows.len() as u8;
            }
            if let Some(rows) = by_end.rows.get_mut(usize::from(*list) - 1) {
                rows.extend(row.map(|row| (row, end.as_bytes())));
            }
        }
    }
    by_end
});

/// Returns the names that end as a text does, with their rows; none if a name can't end so. Most
/// names can't.
fn rows_of(text: &[u8]) -> Option<&'static [(&'static Name, &'static [u8])]> {
    let list = *BY_END.lists.get(last_letters(text)?)?;
    BY_END.rows.get(usize::from(list).checked_sub(1)?).map(Vec::as_slice)
}

/// True if a text may end with one of the names above, or with one that a pair of members has
/// (`"name"`, `"key"`, `"value"`).
pub(super) fn may_end_name(text: &[u8]) -> bool {
    rows_of(text).is_some()
}

/// Returns a number for the last three letters of a text, five bits of each, over what may stand
/// between the words of a name.
fn last_letters(text: &[u8]) -> Option<usize> {
    if !text.last()?.is_ascii_alphabetic() {
        return None;
    }
    let mut letters = text.iter().rev().filter(|byte| !b"-_.".contains(byte));
    (0..3).try_fold(0, |all, _| {
        let letter = letters.next().filter(|byte| byte.is_ascii_alphanumeric())?;
        Some(all << 5 | usize::from(letter & 31))
    })
}

/// The longest name that is looked at, in letters and digits.
const MAX_NAME: usize = 64;

/// Returns what a name says of its value, however it is spelled: `api_key`, `apiKeys`,
/// `OPENAI_API_KEY`, `X-Api-Key`.
pub(super) fn named(name: &[u8]) -> Option<(&'static str, SecretPlace)> {
    let mut letters = [0; MAX_NAME];
    let mut length = 0;
    for byte in name.iter().filter(|byte| byte.is_ascii_alphanumeric()) {
        *letters.get_mut(length)? = byte.to_ascii_lowercase();
        length += 1;
    }
    let letters = letters.get(..length)?;
    // Pieces of text are called tokens, where a model is asked for their probabilities.
    let one = letters.strip_suffix(b"s").filter(|_| letters != b"tokens").unwrap_or(letters);
    let rows = rows_of(letters)?;
    let last = last_of_variable(name).unwrap_or_default();
    let fits = |(row, end): &&(&Name, &[u8])| match row.is_whole {
        true => *end == letters || last.eq_ignore_ascii_case(end),
        false => one.ends_with(end) || letters.ends_with(end),
    };
    let (row, end) = rows.iter().find(fits)?;
    let is_text = NO_SECRETS.iter().any(|end| one.ends_with(end.as_bytes()))
        || memmem::find(letters, b"ratelimit").is_some();
    let is_variable = row.place.is_none() && is_of_variable(name);
    let place = match is_variable || last.eq_ignore_ascii_case(end) {
        true => Some(SecretPlace::Everywhere),
        false => row.place,
    };
    place.filter(|_| !is_text).map(|place| (row.what, place))
}

/// Returns the last word of the name of a variable of an environment: `DB_PASS`, `REDIS_AUTH`.
fn last_of_variable(name: &[u8]) -> Option<&[u8]> {
    let last = memchr::memrchr(b'_', name).filter(|_| is_of_variable(name))?;
    name.get(last + 1..)
}

/// True if a name is written as those of variables of an environment are.
fn is_of_variable(name: &[u8]) -> bool {
    name.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
}

/// What is said about a cookie beside its value (R, HAR 1.2), and in a schema about any member.
pub(super) const ATTRIBUTES: &[&str] = &[
    "name", "key", "path", "domain", "expires", "max-age", "maxAge", "samesite", "httponly",
    "secure", "priority", "creation", "lastAccessed", "hostOnly", "comment", "type", "description",
    "title",
];

/// Words of programs in place of a value.
pub(super) const NO_VALUES: &[&str] =
    &["none", "null", "nil", "true", "false", "undefined", "str", "string", "xxx"];

/// An option of a command whose value is a secret.
pub(super) struct SecretOption {
    pub(super) command: &'static str,
    /// The bytes that end the command; none if it may go on over lines.
    pub(super) ends: &'static [u8],
    /// Its name, with its hyphens.
    pub(super) name: &'static str,
    pub(super) what: &'static str,
    /// What stands in the value, if that is none without it. A password comes after it.
    pub(super) sign: Option<u8>,
}

const fn curl(name: &'static str, what: &'static str, sign: Option<u8>) -> SecretOption {
    SecretOption { command: "curl", ends: b"", name, what, sign }
}

const fn password(command: &'static str, ends: &'static [u8], name: &'static str) -> SecretOption {
    SecretOption { command, ends, name, what: "a password", sign: None }
}

/// What ends a command of a shell.
const END: &[u8] = b"\n\x0b;|&";

/// The options of curl, <https://curl.se/docs/manpage.html>, those of other commands by their own
/// pages, and the password in a file of `netrc`,
/// <https://www.gnu.org/software/inetutils/manual/html_node/The-_002enetrc-file.html>.
pub(super) const OPTIONS: &[SecretOption] = &[
    curl("-u", "a password", Some(b':')),
    curl("--user", "a password", Some(b':')),
    curl("-U", "a password", Some(b':')),
    curl("--proxy-user", "a password", Some(b':')),
    curl("-b", "a cookie", Some(b'=')),
    curl("--cookie", "a cookie", Some(b'=')),
    curl("--oauth2-bearer", "a bearer token", None),
    curl("--pass", "a password", None),
    curl("--proxy-pass", "a password", None),
    password("docker login", END, "-p"),
    password("podman login", END, "-p"),
    password("sshpass", END, "-p"),
    password("machine ", b"", "password"),
    password("login ", b"", "password"),
    SecretOption { command: "http ", ends: END, name: "-a", what: "a password", sign: Some(b':') },
    SecretOption { command: "https ", ends: END, name: "-a", what: "a password", sign: Some(b':') },
];

/// The schemes after which credentials stand in a head, in lower case: those of IANA's registry,
/// <https://www.iana.org/assignments/http-authschemes>, and of providers.
pub(super) const SCHEMES: &[&str] = &[
    "basic", "bearer", "digest", "dpop", "gnap", "hoba", "mutual", "negotiate", "ntlm", "oauth",
    "privatetoken", "scram-sha-1", "scram-sha-256", "vapid", "token", "apikey", "key",
    "aws4-hmac-sha256", "sharedkey", "googlelogin", "bot",
];
