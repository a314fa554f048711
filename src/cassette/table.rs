//! The recorders whose files are read: a row each says how a file is recognised, where the exchanges
//! are, and where in each exchange its parts are.
//!
//! Places are names of members with points between them; several, of which the first that is there
//! counts, are separated by `|`. A list stands for its first element that has the member.

/// A kind of file.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) name: &'static str,
    /// Who writes it.
    pub(crate) about: &'static str,
    /// A page that says what is in it.
    pub(crate) link: &'static str,
    pub(super) layouts: &'static [FileLayout],
    pub(super) method: &'static str,
    pub(super) url: &'static str,
    /// What stands before the path, where the URL is in two parts.
    pub(super) host: &'static str,
    pub(super) request: &'static [BodyPart],
    pub(super) status: &'static str,
    pub(super) headers: &'static str,
    pub(super) body: &'static [BodyPart],
}

/// A shape of the file.
#[derive(Debug)]
pub(super) struct FileLayout {
    /// Where the exchanges are: names of members, `|` between spellings, `[]` for the elements of a
    /// list. Empty if each document is an exchange.
    pub(super) exchanges: &'static str,
    /// The member at the top whose list holds the requests, in their order, if what is there are the
    /// responses alone: an exchange is then a `request` and a `response`.
    pub(super) requests: Option<&'static str>,
    /// True if the first member's name may come again at its elements, whose list it is then.
    pub(super) is_nested: bool,
    /// What has to be seen, of which any line will do: places from the top with what is there, `{}`
    /// a map, `[]` a list and its elements, nothing a scalar.
    pub(super) signs: &'static [&'static [&'static str]],
    /// The members of which one stands first at the top, or in the first element of a list.
    pub(super) top: &'static [&'static str],
    /// True if any others may follow it.
    pub(super) is_open: bool,
}

/// What most shapes have in common.
const LAYOUT: FileLayout = FileLayout {
    exchanges: "",
    requests: None,
    is_nested: false,
    signs: &[],
    top: &[],
    is_open: true,
};

/// A place where text or bytes may be, and how they are written there.
#[derive(Debug)]
pub(super) struct BodyPart {
    pub(super) at: &'static str,
    pub(super) coded: Coded,
    /// A place and the text that has to be there.
    pub(super) only: Option<(&'static str, &'static str)>,
}

/// How a body is written in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coded {
    /// As text.
    Text,
    /// As text, or as a tree whose JSON it is.
    Tree,
    /// In base64, in one piece or in a JSON list of them.
    Base64,
    /// In base64, of gzip.
    Gzip,
    /// In hexadecimal digits.
    Hex,
    /// In a list of pieces in hexadecimal digits.
    HexPieces,
}

const fn part(at: &'static str, coded: Coded) -> BodyPart {
    BodyPart { at, coded, only: None }
}

const fn part_if(
    at: &'static str,
    coded: Coded,
    place: &'static str,
    word: &'static str,
) -> BodyPart {
    BodyPart { at, coded, only: Some((place, word)) }
}

/// What most rows have in common.
const PAIR: Recorder = Recorder {
    name: "",
    about: "",
    link: "",
    layouts: &[],
    method: "request.method",
    url: "request.url|request.uri",
    host: "",
    request: &[part("request.body", Coded::Tree)],
    status: "response.status",
    headers: "response.headers",
    body: &[part("response.body", Coded::Tree)],
};

/// Every kind of file but Go's httprr, which is no tree. Where two fit, the first is taken.
pub(super) const RECORDERS: &[Recorder] = &[
    Recorder {
        name: "har",
        about: "HAR 1.2: browsers, proxies, PollyJS (JSON and YAML)",
        link: "http://www.softwareishard.com/blog/har-12-spec/",
        layouts: &[FileLayout {
            exchanges: "log.entries.[]",
            signs: &[&["log.entries[]"]],
            top: &["log"],
            ..LAYOUT
        }],
        request: &[
            part("request.postData.text", Coded::Text),
            part("request.postData.textJSON", Coded::Tree),
        ],
        body: &[
            part_if("response.content.text", Coded::Base64, "response.content.encoding", "base64"),
            part("response.content.text", Coded::Tree),
            part("response.content.textJSON", Coded::Tree),
        ],
        ..PAIR
    },
    Recorder {
        name: "vcr",
        about: "vcrpy (LangChain's too), Ruby's VCR, R's vcr, betamax, go-vcr",
        link: "https://vcrpy.readthedocs.io/en/latest/usage.html",
        layouts: &[
            FileLayout {
                exchanges: "interactions|http_interactions.[]",
                signs: &[
                    &["interactions[].request{}"],
                    &["interactions[].response{}"],
                    &["http_interactions[]"],
                    &["interactions[]", "version"],
                    &["interactions[]", "recorded_with"],
                ],
                top: &[
                    "interactions", "http_interactions", "version", "recorded_with", "recorded_at",
                    "metadata",
                ],
                ..LAYOUT
            },
            // As vcrpy hands it to a serializer: LangChain's.
            FileLayout {
                exchanges: "responses.[]",
                requests: Some("requests"),
                signs: &[&["requests[].method", "requests[].uri"]],
                top: &["requests"],
                ..LAYOUT
            },
        ],
        request: &[
            part("request.body.string", Coded::Text),
            part("request.body.base64_string", Coded::Base64),
            part("request.body.raw_gzip", Coded::Gzip),
            part("request.body", Coded::Text),
            part("request.parsed_body", Coded::Tree),
        ],
        status: "response.status.code|response.status.status_code|response.code|response.status|\
                 response.status_code",
        body: &[
            part("response.body.string", Coded::Text),
            part("response.body.base64_string", Coded::Base64),
            part("response.body.raw_gzip", Coded::Gzip),
            part("response.body", Coded::Text),
            part("response.parsed_body", Coded::Tree),
            part("response.content", Coded::Text),
        ],
        ..PAIR
    },
    Recorder {
        name: "nock",
        about: "nock's recorded definitions",
        link: "https://github.com/nock/nock#recording",
        layouts: &[FileLayout {
            exchanges: "[]",
            signs: &[&["[].scope", "[].path"]],
            top: &["scope", "method", "path", "body", "status", "response"],
            ..LAYOUT
        }],
        method: "method",
        url: "path",
        host: "scope",
        request: &[part("body", Coded::Tree)],
        status: "status",
        headers: "rawHeaders|headers",
        body: &[
            part_if("response", Coded::Hex, "responseIsBinary", "true"),
            part("response", Coded::HexPieces),
            part("response", Coded::Tree),
        ],
    },
    Recorder {
        name: "pairs",
        about: "ExVCR, PHP-VCR: a list of requests with their responses",
        link: "https://hexdocs.pm/exvcr/readme.html",
        layouts: &[FileLayout {
            exchanges: "[]",
            signs: &[
                &["[].request.url", "[].response{}"],
                &["[].request.uri", "[].response{}"],
                &["[].request.method", "[].request.url"],
                &["[].request.method", "[].request.uri"],
            ],
            top: &["request", "response"],
            ..LAYOUT
        }],
        request: &[part("request.body", Coded::Tree), part("request.request_body", Coded::Tree)],
        status: "response.status_code|response.status.code|response.status",
        ..PAIR
    },
    Recorder {
        name: "when-then",
        about: "rvcr, httpmock: a document for each exchange",
        link: "https://docs.rs/httpmock",
        layouts: &[FileLayout {
            signs: &[&["when.method"], &["when.path"], &["when{}", "then{}"]],
            top: &["when", "then"],
            is_open: false,
            ..LAYOUT
        }],
        method: "when.method",
        url: "when.path",
        request: &[part("when.body", Coded::Tree)],
        status: "then.status",
        headers: "then.header",
        body: &[part("then.body", Coded::Tree), part("then.body_base64", Coded::Base64)],
        ..PAIR
    },
    Recorder {
        name: "wiremock",
        about: "WireMock's mappings, one or all",
        link: "https://wiremock.org/docs/stubbing/",
        layouts: &[
            FileLayout {
                exchanges: "mappings.[]",
                signs: &[&["mappings[].request{}"], &["mappings[].response{}"]],
                top: &["mappings", "meta"],
                ..LAYOUT
            },
            FileLayout {
                signs: &[&["request.method", "response.status"]],
                top: &[
                    "id", "uuid", "name", "request", "response", "priority", "persistent",
                    "scenarioName", "requiredScenarioState", "newScenarioState", "metadata",
                    "postServeActions", "insertionIndex", "serveEventListeners",
                ],
                is_open: false,
                ..LAYOUT
            },
        ],
        url: "request.url|request.urlPath|request.urlPattern|request.urlPathPattern",
        request: &[
            part("request.bodyPatterns.equalToJson", Coded::Tree),
            part("request.bodyPatterns.equalTo", Coded::Text),
        ],
        body: &[
            part("response.body", Coded::Tree),
            part("response.jsonBody", Coded::Tree),
            part("response.base64Body", Coded::Base64),
        ],
        ..PAIR
    },
    Recorder {
        name: "postman",
        about: "Postman's collections: the responses that were saved as examples",
        link: "https://schema.postman.com/collection/json/v2.1.0/draft-07/docs/index.html",
        layouts: &[FileLayout {
            exchanges: "item.[].response.[]",
            is_nested: true,
            signs: &[&["info{}", "item[]"]],
            top: &["info", "item", "variable", "event", "auth", "protocolProfileBehavior"],
            ..LAYOUT
        }],
        method: "originalRequest.method",
        url: "originalRequest.url.raw|originalRequest.url",
        request: &[part("originalRequest.body.raw", Coded::Text)],
        status: "code",
        headers: "header",
        body: &[part("body", Coded::Tree)],
        ..PAIR
    },
    Recorder {
        name: "hoverfly",
        about: "Hoverfly's simulations",
        link: "https://docs.hoverfly.io/en/latest/pages/keyconcepts/simulations/simulations.html",
        layouts: &[FileLayout {
            exchanges: "data.pairs.[]",
            signs: &[&["data.pairs[]"]],
            top: &["data", "meta"],
            ..LAYOUT
        }],
        method: "request.method.value|request.method",
        url: "request.path.value|request.path",
        host: "request.destination.value|request.destination",
        request: &[part("request.body.value", Coded::Tree), part("request.body", Coded::Text)],
        body: &[
            part_if("response.body", Coded::Base64, "response.encodedBody", "true"),
            part("response.body", Coded::Tree),
        ],
        ..PAIR
    },
];

/// The first line of Go's httprr, which has lengths in place of a syntax.
pub(super) const HTTPRR: &[u8] = b"httprr trace v1\n";

/// The row of Go's httprr, whose exchanges are as they were on the wire.
pub(super) const WIRE: Recorder = Recorder {
    name: "httprr",
    about: "Go's httprr: requests and responses as on the wire, with their lengths",
    link: "https://pkg.go.dev/golang.org/x/oscar/internal/httprr",
    ..PAIR
};
