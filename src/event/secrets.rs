//! The secrets that are known: by the names that they go by, and by the letters that they begin
//! with.
//!
//! Sources, by their marks in the tables:
//!
//! - G: the rules of gitleaks, <https://github.com/gitleaks/gitleaks/blob/master/config/gitleaks.toml>
//! - T: the detectors of TruffleHog, <https://github.com/trufflesecurity/trufflehog/tree/main/pkg/detectors>
//! - H: <https://docs.github.com/en/code-security/secret-scanning/introduction/supported-secret-scanning-patterns>
//! - D: the keywords of detect-secrets, <https://github.com/Yelp/detect-secrets>
//! - P: what the provider's own pages and its SDK call it
//! - R: an RFC: 6749 and 6750 (OAuth), 6265 (cookies), 9110 (credentials in heads)

#[cfg(feature = "cli")]
use std::sync::LazyLock;

#[cfg(feature = "cli")]
use memchr::memmem;

use crate::cut::Cut as _;

/// A kind of secret that its first letters tell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SecretShape {
    /// Its kind and its owner, in words.
    #[cfg_attr(not(feature = "cli"), expect(dead_code))]
    pub(crate) name: &'static str,
    /// Its first letters.
    pub(crate) prefix: &'static str,
    /// The shortest rest that it has, in bytes.
    pub(crate) shortest: usize,
    /// What the rest is made of.
    pub(crate) letters: Letters,
    /// True if words begin so too: a shorter rest is none, and none begins inside a word.
    pub(crate) is_word: bool,
}

/// What keys are made of, beside letters and digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Letters {
    /// Nothing.
    Plain,
    /// `-` and `_`.
    Url,
    /// These and dots.
    Dots,
    /// Those of base64: `+`, `/` and `=`, and what stands for them in URLs.
    Base64,
}

use Letters::{Base64, Dots, Plain, Url};

impl Letters {
    /// True if a key is made of this byte.
    pub(crate) fn has(self, byte: u8) -> bool {
        byte.is_ascii_alphanumeric()
            || match self {
                Plain => false,
                Url => b"-_".contains(&byte),
                Dots => b"-_.".contains(&byte),
                Base64 => b"-_+/=".contains(&byte),
            }
    }
}

/// The rest of a key whose beginning no word has is at least so long, in bytes.
const MIN_REST: usize = 8;

const fn key(name: &'static str, prefix: &'static str, letters: Letters) -> SecretShape {
    SecretShape { name, prefix, shortest: MIN_REST, letters, is_word: false }
}

/// A key whose beginning names of models and the like have as well.
const fn long(name: &'static str, prefix: &'static str, letters: Letters) -> SecretShape {
    SecretShape { shortest: 18, ..key(name, prefix, letters) }
}

const fn word(
    name: &'static str,
    prefix: &'static str,
    shortest: usize,
    letters: Letters,
) -> SecretShape {
    SecretShape { name, prefix, shortest, letters, is_word: true }
}

/// Every shape. Of several that fit, the one with the longest prefix counts.
pub(crate) const SHAPES: &[SecretShape] = &[
    // Those who serve models.
    long("a key of OpenAI or its like", "sk-", Plain), // G, P
    word("a key of OpenAI or its like", "sk-", 40, Url), // P
    key("a key of OpenAI", "sk-proj-", Url),           // G
    key("a key of OpenAI", "sk-svcacct-", Url),        // G
    key("a key of OpenAI", "sk-admin-", Url),          // G
    key("a key of Anthropic", "sk-ant-", Url),         // G
    key("a key of OpenRouter", "sk-or-v1-", Url),      // H
    key("a key of Langfuse", "sk-lf-", Url),           // T
    key("a key of Langfuse", "pk-lf-", Url),           // T
    key("a key of Google", "AIza", Url),               // G
    key("a key of Google", "AQ.Ab8RN6", Url),          // H
    key("a token of Google", "ya29.", Dots),           // T
    key("a client secret of Google", "GOCSPX-", Url),  // H
    word("a key of AWS", "AKIA", 12, Plain),           // G
    word("a key of AWS", "ASIA", 12, Plain),           // G
    word("a key of AWS", "ABIA", 12, Plain),           // G
    word("a key of AWS", "ACCA", 12, Plain),           // G
    word("a key of Amazon Bedrock", "ABSK", 40, Base64), // G
    key("a key of Amazon Bedrock", "bedrock-api-key-", Base64), // G
    word("a key of Alibaba Cloud", "LTAI", 12, Plain), // G
    long("a token of Hugging Face", "hf_", Plain),     // G
    word("a token of Hugging Face", "api_org_", 16, Plain), // G
    long("a key of Groq", "gsk_", Plain),              // T
    long("a key of xAI", "xai-", Plain),               // H
    long("a key of Perplexity", "pplx-", Plain),       // G
    long("a key of Replicate", "r8_", Plain),          // H
    word("a key of Fireworks", "fw_", 16, Plain),      // H
    key("a key of Together", "tgp_v1_", Url),          // H
    long("a key of Cerebras", "csk-", Plain),          // H
    long("a key of NVIDIA", "nvapi-", Url),            // T
    word("a key of Databricks", "dapi", 24, Url),      // G
    word("a key of Voyage", "pa-", 32, Url),           // P
    word("a key of Jina", "jina_", 20, Plain),         // P
    word("a key of ElevenLabs", "sk_", 32, Plain),     // T
    long("a key of Vercel", "vck_", Plain),            // P
    key("a key of Pinecone", "pcsk_", Url),            // H
    // What agents and their tools use.
    key("a token of GitHub", "ghp_", Url),        // G
    key("a token of GitHub", "gho_", Url),        // G
    key("a token of GitHub", "ghu_", Url),        // G
    key("a token of GitHub", "ghs_", Url),        // G
    key("a token of GitHub", "ghr_", Url),        // G
    key("a token of GitHub", "github_pat_", Url), // G
    key("a token of GitLab", "glpat-", Dots),     // G
    key("a token of GitLab", "gldt-", Url),       // G
    key("a token of GitLab", "glptt-", Url),      // G
    key("a token of GitLab", "glrt-", Dots),      // G
    key("a token of GitLab", "glcbt-", Url),      // G
    key("a token of GitLab", "gloas-", Url),      // G
    key("a token of GitLab", "glsoat-", Url),     // G
    key("a token of GitLab", "glagent-", Url),    // G
    key("a token of Slack", "xoxb-", Url),        // G
    key("a token of Slack", "xoxp-", Url),        // G
    key("a token of Slack", "xoxa-", Url),        // G
    key("a token of Slack", "xoxr-", Url),        // G
    key("a token of Slack", "xoxs-", Url),        // G
    key("a token of Slack", "xoxo-", Url),        // G
    key("a token of Slack", "xoxe-", Url),        // G
    key("a token of Slack", "xoxe.xox", Url),     // G
    key("a token of Slack", "xapp-", Url),        // G
    key("a webhook of Slack", "hooks.slack.com/services/", Base64), // G
    key("a webhook of Slack", "hooks.slack.com/workflows/", Base64), // G
    key("a webhook of Slack", "hooks.slack.com/triggers/", Base64), // G
    key("a webhook of Discord", "discord.com/api/webhooks/", Base64), // T
    key("a key of Stripe", "sk_live_", Url),      // G
    key("a key of Stripe", "sk_test_", Url),      // G
    key("a key of Stripe", "rk_live_", Url),      // G
    key("a key of Stripe", "rk_test_", Url),      // G
    key("a secret of Stripe", "whsec_", Base64),  // H
    word("a key of SendGrid", "SG.", 40, Dots),   // G
    word("a token of npm", "npm_", 30, Plain),    // G
    word("a token of PyPI", "pypi-", 30, Url),    // G
    word("a token of RubyGems", "rubygems_", 30, Plain), // G
    key("a token of Docker", "dckr_pat_", Url),   // H
    key("a token of Docker", "dckr_oat_", Url),   // H
    key("a token of DigitalOcean", "dop_v1_", Url), // G
    key("a token of DigitalOcean", "doo_v1_", Url), // G
    key("a token of DigitalOcean", "dor_v1_", Url), // G
    key("a token of Shopify", "shpat_", Url),     // G
    key("a token of Shopify", "shpca_", Url),     // G
    key("a token of Shopify", "shppa_", Url),     // G
    key("a secret of Shopify", "shpss_", Url),    // G
    key("a key of Tavily", "tvly-", Url),         // H
    key("a key of LangSmith", "lsv2_pt_", Url),   // H
    key("a key of LangSmith", "lsv2_sk_", Url),   // H
    word("a token of Notion", "ntn_", 20, Plain), // G
    key("a key of Linear", "lin_api_", Url),      // G
    word("a token of Vault", "hvs.", 20, Url),    // G
    word("a token of Vault", "hvb.", 20, Url),    // G
    key("a token of Supabase", "sbp_", Url),      // H
    word("a secret of Supabase", "sb_secret_", 16, Url), // H
    word("a token of Grafana", "glsa_", 20, Url), // G
    word("a token of Grafana", "glc_", 30, Base64), // G
    word("a token of Sentry", "sntrys_", 20, Base64), // G
    word("a token of Sentry", "sntryu_", 20, Plain), // G
    key("a token of PlanetScale", "pscale_tkn_", Dots), // G
    key("a token of PlanetScale", "pscale_oauth_", Dots), // G
    key("a password of PlanetScale", "pscale_pw_", Dots), // G
    key("a key of Postman", "PMAK-", Url),        // G
    word("a key of Prefect", "pnu_", 30, Plain),  // G
    word("a token of Pulumi", "pul-", 30, Plain), // G
    word("a token of Doppler", "dp.pt.", 30, Plain), // G
    word("a token of Dynatrace", "dt0c01.", 20, Dots), // G
    word("a token of Fly", "fo1_", 30, Url),      // G
    word("a token of Fly", "fm2_", 30, Base64),   // G
    word("a key of Sendinblue", "xkeysib-", 30, Url), // G
    word("a token of 1Password", "ops_eyJ", 30, Base64), // G
    word("a key of age", "AGE-SECRET-KEY-1", 30, Plain), // G
    // Whose the answer is.
    word("an organisation of OpenAI", "org-", 16, Plain), // P
    word("a project of OpenAI", "proj_", 16, Plain),      // P
    word("a user of OpenAI", "user-", 16, Plain),         // P
    word("a user of Clerk", "user_", 20, Plain),          // P
    word("an organisation of Clerk", "org_", 20, Plain),  // P
    word("a workspace of Anthropic", "wrkspc_", 16, Plain), // P
    word("an account of Stripe", "acct_", 14, Plain),     // P
];

impl SecretShape {
    /// Returns the length of what follows the prefix in a text, if that is long enough.
    pub(crate) fn rest(&self, text: &[u8]) -> Option<usize> {
        let rest = text.strip_prefix(self.prefix.as_bytes())?;
        let run = |letters: Letters| rest.iter().take_while(|&&byte| letters.has(byte)).count();
        let own = run(self.letters);
        // All of the word goes, and no full stop after it.
        let all = rest.before(own.max(run(Url)));
        let length = all.iter().rposition(|&byte| byte != b'.').map_or(0, |at| at + 1);
        (own.min(length) >= self.shortest).then_some(length)
    }
}

/// Where a name says that its value is a secret.
#[cfg(feature = "cli")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SecretPlace {
    /// Everywhere: in heads, members, queries of URLs, and where it is set.
    Everywhere,
    /// In heads and members, where it says whose the answer is.
    Owner,
    /// In queries of URLs.
    Query,
}

/// A name of secrets: the ends of such names, in lower case, letters and digits alone.
#[cfg(feature = "cli")]
pub(crate) struct Name {
    pub(crate) what: &'static str,
    place: SecretPlace,
    /// True if these are all of the name, and not its end.
    is_whole: bool,
    ends: &'static [&'static str],
}

#[cfg(feature = "cli")]
const fn ends(what: &'static str, ends: &'static [&'static str]) -> Name {
    Name { what, place: SecretPlace::Everywhere, is_whole: false, ends }
}

#[cfg(feature = "cli")]
const fn whole(what: &'static str, place: SecretPlace, ends: &'static [&'static str]) -> Name {
    Name { what, place, is_whole: true, ends }
}

/// Every name. The first that fits counts.
#[cfg(feature = "cli")]
const NAMES: &[Name] = &[
    ends("a key", &["apikey", "accesskey", "accesskeyid", "secretkey", "authkey"]), // G, D
    ends("a key", &["privatekey", "privkey", "servicekey", "accountkey", "clientkey"]), // D
    ends("a key", &["databasekey", "dbkey", "subscriptionkey", "signingkey"]),      // D, P
    ends("a key", &["encryptionkey", "masterkey", "sharedkey", "storagekey", "sessionkey"]), // G, P
    ends("a key", &["openaikey", "anthropickey", "geminikey", "azurekey", "sshkey", "hmackey"]), // T
    ends("a token", &["token", "jwt"]), // G, R
    ends("a secret", &["secret"]),      // G, D, R
    ends(
        "a password",
        &[
            "password", "passwd", "passphrase", "pwd", "databasepass", "dbpass", "userpass",
            "smtppass",
        ],
    ), // G, D
    ends("credentials", &["credential", "authorization"]), // G, R
    whole("credentials", SecretPlace::Everywhere, &["auth", "bearer", "heliconeauth", "xauth"]), // G, P
    ends("a cookie", &["cookie"]),                   // R
    ends("a signature", &["sharedaccesssignature"]), // P
    ends("a connection", &["connectionstring", "databaseurl", "webhookurl"]), // T
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
#[cfg(feature = "cli")]
const NO_SECRETS: &[&str] = &[
    "pagetoken", "nexttoken", "eostoken", "bostoken", "padtoken", "unktoken", "septoken",
    "clstoken", "masktoken", "stoptoken", "specialtoken", "decodedtoken", "allowcredential",
    "withcredential",
];

/// The names above, by the last three letters of each and of its plural, in their order.
#[cfg(feature = "cli")]
struct ByEnd {
    /// The number of the list for these letters, from 1; 0 if no name ends so.
    lists: Vec<u8>,
    rows: Vec<Vec<(&'static Name, &'static [u8])>>,
}

#[cfg(feature = "cli")]
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
#[cfg(feature = "cli")]
fn rows_of(text: &[u8]) -> Option<&'static [(&'static Name, &'static [u8])]> {
    let list = *BY_END.lists.get(last_letters(text)?)?;
    BY_END.rows.get(usize::from(list).checked_sub(1)?).map(Vec::as_slice)
}

/// True if a text may end with one of the names above, or with one that a pair of members has
/// (`"name"`, `"key"`, `"value"`).
#[cfg(feature = "cli")]
pub(crate) fn may_end_name(text: &[u8]) -> bool {
    rows_of(text).is_some()
}

/// Returns a number for the last three letters of a text, five bits of each, over what may stand
/// between the words of a name.
#[cfg(feature = "cli")]
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
#[cfg(feature = "cli")]
const MAX_NAME: usize = 64;

/// Returns what a name says of its value, however it is spelled: `api_key`, `apiKeys`,
/// `OPENAI_API_KEY`, `X-Api-Key`.
#[cfg(feature = "cli")]
pub(crate) fn named(name: &[u8]) -> Option<(&'static str, SecretPlace)> {
    let mut letters = [0; MAX_NAME];
    let mut length = 0;
    for byte in name.iter().filter(|byte| byte.is_ascii_alphanumeric()) {
        *letters.get_mut(length)? = byte.to_ascii_lowercase();
        length += 1;
    }
    let letters = letters.get(..length)?;
    // Pieces of text are called tokens, where a model is asked for their probabilities.
    let one = letters.strip_suffix(b"s").filter(|_| letters != b"tokens").unwrap_or(letters);
    let fits = |(row, end): &&(&Name, &[u8])| match row.is_whole {
        true => *end == letters,
        false => one.ends_with(end),
    };
    let (row, _) = rows_of(letters)?.iter().find(fits)?;
    let is_text = NO_SECRETS.iter().any(|end| one.ends_with(end.as_bytes()))
        || memmem::find(letters, b"ratelimit").is_some();
    (!is_text).then_some((row.what, row.place))
}

/// What is said about a cookie beside its value (R, HAR 1.2), and in a schema about any member.
#[cfg(feature = "cli")]
pub(crate) const COOKIE_ATTRIBUTES: &[&str] = &[
    "name", "key", "path", "domain", "expires", "max-age", "maxAge", "samesite", "httponly",
    "secure", "priority", "creation", "lastAccessed", "hostOnly", "comment", "type", "description",
    "title",
];

/// Words of programs in place of a value.
#[cfg(feature = "cli")]
pub(crate) const NO_VALUES: &[&str] =
    &["none", "null", "nil", "true", "false", "undefined", "str", "string", "xxx"];

/// An option of a command whose value is a secret.
#[cfg(feature = "cli")]
pub(crate) struct SecretOption {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    /// What stands in the value, if that is none without it. A password comes after it.
    pub(crate) sign: Option<u8>,
}

#[cfg(feature = "cli")]
const fn option(name: &'static str, what: &'static str, sign: Option<u8>) -> SecretOption {
    SecretOption { name, what, sign }
}

/// The options of curl, <https://curl.se/docs/manpage.html>, without their hyphens.
#[cfg(feature = "cli")]
pub(crate) const OPTIONS: &[SecretOption] = &[
    option("u", "a password", Some(b':')),
    option("user", "a password", Some(b':')),
    option("U", "a password", Some(b':')),
    option("proxy-user", "a password", Some(b':')),
    option("b", "a cookie", Some(b'=')),
    option("cookie", "a cookie", Some(b'=')),
    option("oauth2-bearer", "a bearer token", None),
    option("pass", "a password", None),
    option("proxy-pass", "a password", None),
];

/// The schemes after which credentials stand in a head, in lower case: those of IANA's registry,
/// <https://www.iana.org/assignments/http-authschemes>, and of providers.
#[cfg(feature = "cli")]
pub(crate) const SCHEMES: &[&str] = &[
    "basic", "bearer", "digest", "dpop", "gnap", "hoba", "mutual", "negotiate", "ntlm", "oauth",
    "privatetoken", "scram-sha-1", "scram-sha-256", "vapid", "token", "apikey", "key",
    "aws4-hmac-sha256", "sharedkey", "googlelogin", "bot",
];
