//! `<arg_key>` and `<arg_value>`, as GLM-4.5 introduced them: the name stands
//! bare after the opener, and values are verbatim.

use crate::dialect::rows::tags;
use crate::dialect::spec::{Call, Dialect, Region, Section};

const CALL: Call = Call::parameters(
    "<tool_call>{ws}{name}",
    "</tool_call>",
    "<arg_key>{ws}{key}{ws}</arg_key>{ws}<arg_value>",
    "</arg_value>",
);

/// As it writes most calls (sglang#37925). A tokeniser of it spells the opener `<![`. Only by name:
/// nothing but the end of its JSON closes such a call.
pub(crate) static GLM53: Dialect = Dialect {
    name: "glm53",
    models: &["GLM-5.3-Flash"],
    regions: &[tags::REASONING],
    calls: &[
        Call::arguments("<tool_call>{ws}{name}{ws}>", ""),
        Call { next: &["{"], ..Call::arguments("<![{name}{[}>{]}", "") },
        CALL,
    ],
    drops: &["</tool_call>"],
    ..Dialect::EMPTY
};

const GLM: Dialect = Dialect { regions: &[tags::REASONING], calls: &[CALL], ..Dialect::EMPTY };

pub(crate) static GLM45: Dialect = Dialect {
    name: "glm45",
    aliases: &["glm", "glm45_moe"],
    models: &["GLM-4.5", "GLM-4.6"],
    auto: true,
    ..GLM
};

pub(crate) static GLM47: Dialect =
    Dialect { name: "glm47", aliases: &["glm47_moe"], models: &["GLM-4.7", "GLM-5"], ..GLM };

pub(crate) static POOLSIDE: Dialect =
    Dialect { name: "poolside_v1", models: &["Poolside Laguna"], ..GLM };

pub(crate) static LING3: Dialect =
    Dialect { name: "ling3", models: &["Ling 3.0", "Ring 2.6"], ..GLM };

pub(crate) static SPARK25: Dialect =
    Dialect { name: "spark25", models: &["iFlytek Spark 2.5"], ..GLM };

pub(crate) static IQUEST: Dialect = Dialect {
    name: "iquest_q1",
    models: &["IQuest-Q1"],
    auto: true,
    regions: &[tags::REASONING],
    calls: &[Call { open: "<iquest_tool_call>{ws}{name}", close: "</iquest_tool_call>", ..CALL }],
    ..Dialect::EMPTY
};

/// Each checkpoint has a suffix of its own on every tag.
const HY: Dialect = Dialect {
    regions: &[Region::reasoning(
        "<think{[}:{suffix}{]}>{nl}",
        "{nl}</think{[}:{suffix}{]}>{nl}{nl}",
    )],
    sections: &[Section::new("<tool_calls{[}:{suffix}{]}>", "</tool_calls{[}:{suffix}{]}>")],
    calls: &[Call::parameters(
        "<tool_call{[}:{suffix}{]}>{ws}{name}{[}<tool_sep{[}:{suffix}{]}>{]}",
        "</tool_call{[}:{suffix}{]}>",
        "<arg_key{[}:{suffix}{]}>{ws}{key}{ws}</arg_key{[}:{suffix}{]}>{ws}<arg_value{[}:{suffix}{]}>",
        "</arg_value{[}:{suffix}{]}>",
    )],
    ..Dialect::EMPTY
};

pub(crate) static HY_V3: Dialect = Dialect {
    name: "hy_v3",
    aliases: &["hunyuan"],
    models: &["Hunyuan Hy3"],
    start_in: crate::dialect::spec::StartIn::Auto,
    auto: true,
    ..HY
};

pub(crate) static HY_V4: Dialect = Dialect {
    name: "hy_v4",
    models: &["Hunyuan Hy4"],
    start_in: crate::dialect::spec::StartIn::Auto,
    ..HY
};

pub(crate) static K2_HORIZON: Dialect = Dialect {
    name: "k2_horizon",
    models: &["K2 Horizon"],
    auto: true,
    regions: &[
        Region::reasoning("<ifm|think>{nl}", "{nl}</ifm|think>{nl}{nl}"),
        Region::reasoning("<ifm|think_fast>{nl}", "{nl}</ifm|think_fast>{nl}{nl}"),
        Region::reasoning("<ifm|think_faster>{nl}", "{nl}</ifm|think_faster>{nl}{nl}"),
    ],
    sections: &[Section::new("<ifm|tool_calls>", "</ifm|tool_calls>")],
    calls: &[
        Call::json("<ifm|tool_call>", "</ifm|tool_call>"),
        Call::parameters(
            "<ifm|tool_call>{ws}{name}",
            "</ifm|tool_call>",
            "<ifm|arg_key>{ws}{key}{ws}</ifm|arg_key>{ws}{[}<ifm|arg_type>{type}</ifm|arg_type>{ws}{]}<ifm|arg_value>",
            "</ifm|arg_value>",
        ),
        Call::unreadable("<ifm|tool_call>", "</ifm|tool_call>"),
    ],
    ..Dialect::EMPTY
};
