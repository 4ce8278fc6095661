//! The page that Trunk writes, made fit for a strict content security policy.

use crate::failure::Failure;

/// The names that the page needs; of a file that is renamed, the old and the new one.
pub(super) struct Names<'a> {
    pub(super) boot: &'a str,
    pub(super) script: (&'a str, &'a str),
    pub(super) module: (&'a str, &'a str),
    pub(super) engine: &'a str,
    /// The digest of the sources.
    pub(super) sources: &'a str,
}

/// The script that starts the dashboard. It finds its files beside itself, wherever the page stands.
pub(super) fn boot(script: &str, module: &str) -> String {
    format!(
        "import start from './{script}';\n\nawait start({{ module_or_path: new URL('./{module}', import.meta.url) }});\n"
    )
}

/// Puts the names into Trunk's page and the boot script in place of Trunk's inline one. A page with a script or style of its
/// own inside is refused: the content security policy would leave it dead.
pub(super) fn finish(page: &str, names: &Names) -> Result<String, Failure> {
    let tag = format!("<script type=\"module\" src=\"{}\"></script>", names.boot);
    let page = replace_inline_script(page, &tag)?;
    let page = page.replace(names.script.0, names.script.1).replace(names.module.0, names.module.1);
    let meta = format!(
        "<meta name=\"bailiwick-engine\" content=\"{}/\">\n{}\n</head>",
        names.engine,
        built_from(names.sources)
    );
    let page = replace_once(&page, "</head>", &meta)?;
    check_policy(&page)?;
    Ok(page)
}

/// The same page for another place: its relative addresses start at `base`.
pub(super) fn with_base(page: &str, base: &str) -> Result<String, Failure> {
    replace_once(page, "<base href=\"/\">", &format!("<base href=\"{base}\">"))
}

/// Whether [`finish`] made the page with this digest of the sources.
pub(super) fn is_built_from(page: &str, sources: &str) -> bool {
    page.contains(&built_from(sources))
}

fn built_from(sources: &str) -> String {
    format!("<meta name=\"bailiwick-sources\" content=\"{sources}\">")
}

fn replace_inline_script(page: &str, tag: &str) -> Result<String, Failure> {
    const OPEN: &str = "<script type=\"module\">";
    const CLOSE: &str = "</script>";
    let (before, rest) = page.split_once(OPEN).ok_or_else(|| Failure::new("Trunk's page starts no wasm"))?;
    let (_, after) = rest.split_once(CLOSE).ok_or_else(|| Failure::new("a script in Trunk's page has no end"))?;
    Ok(format!("{before}{tag}{after}"))
}

fn replace_once(page: &str, from: &str, to: &str) -> Result<String, Failure> {
    match page.matches(from).count() {
        1 => Ok(page.replacen(from, to, 1)),
        number => Err(Failure::new(format!("`{from}` stands {number} times in web/index.html, and must stand once"))),
    }
}

fn check_policy(page: &str) -> Result<(), Failure> {
    let inline_script = page.match_indices("<script").any(|(at, _)| {
        let tag = page[at..].split_once('>').map_or("", |(tag, _)| tag);
        !tag.contains(" src=")
    });
    let breach = if inline_script {
        "a script"
    } else if page.contains("<style") {
        "a style"
    } else if page.contains(" style=") {
        "a `style` attribute"
    } else {
        return Ok(());
    };
    Err(Failure::new(format!("web/index.html has {breach} of its own inside"))
        .next("put it into a file: the content security policy allows nothing inline"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRUNK: &str = "<html><head><base href=\"/\"><link rel=\"modulepreload\" href=\"./a-1.js\">\
        <link rel=\"preload\" href=\"./a-1_bg.wasm\"></head><body><script type=\"module\">\nimport init from './a-1.js';\n</script></body></html>";
    const NAMES: Names = Names {
        boot: "boot-4.js",
        script: ("a-1.js", "dashboard-2.js"),
        module: ("a-1_bg.wasm", "dashboard-3.wasm"),
        engine: "engine-5",
        sources: "6",
    };

    #[test]
    fn nothing_inline_is_left_and_every_name_is_new() {
        assert_eq!(
            finish(TRUNK, &NAMES).unwrap(),
            "<html><head><base href=\"/\"><link rel=\"modulepreload\" href=\"./dashboard-2.js\">\
             <link rel=\"preload\" href=\"./dashboard-3.wasm\"><meta name=\"bailiwick-engine\" content=\"engine-5/\">\n\
             <meta name=\"bailiwick-sources\" content=\"6\">\n</head>\
             <body><script type=\"module\" src=\"boot-4.js\"></script></body></html>"
        );
    }

    #[test]
    fn the_page_says_what_it_was_built_from() {
        let page = finish(TRUNK, &NAMES).unwrap();
        assert!(is_built_from(&page, "6"));
        assert!(!is_built_from(&page, "66"));
    }

    #[test]
    fn another_base_changes_nothing_else() {
        let page = with_base(TRUNK, "../").unwrap();
        assert_eq!(page.replace("<base href=\"../\">", "<base href=\"/\">"), TRUNK);
        assert!(with_base("<html></html>", "../").is_err());
    }

    #[test]
    fn what_the_policy_forbids_is_refused() {
        #[track_caller]
        fn check(inside: &str, named: &str) {
            let page = TRUNK.replace("<body>", &format!("<body>{inside}"));
            let failure = finish(&page, &NAMES).unwrap_err().to_string();
            assert!(failure.contains(named), "{failure}");
        }
        check("<script>alert(1)</script>", "a script");
        check("<style>p{}</style>", "a style");
        check("<p style=\"color:red\">", "`style` attribute");
    }
}
