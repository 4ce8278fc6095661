//! The page for people: the document as HTML. No script, nothing from elsewhere.

use std::fmt::Write;

use serde_json::Value;

use crate::problem::Code;

/// The page's style.
pub(super) const STYLE: &str = include_str!("page.css");

/// Renders the document.
pub(super) fn render(document: &Value) -> String {
    let mut page = Page(String::new());
    page.begin(document);
    for tag in items(&document["tags"]) {
        page.tag(document, tag);
    }
    page.codes();
    page.schemas(document);
    page.end();
    page.0
}

struct Page(String);

impl Page {
    /// Adds text that is HTML already.
    fn html(&mut self, html: &str) {
        self.0.push_str(html);
    }

    /// Adds plain text.
    fn text(&mut self, text: &str) {
        self.0.push_str(&escaped(text));
    }

    /// Adds text of the document: plain, except that backticks mark code.
    fn prose(&mut self, text: &str) {
        for (place, part) in text.split('`').enumerate() {
            match place % 2 {
                0 => self.text(part),
                _ => self.element("code", part),
            }
        }
    }

    fn element(&mut self, name: &str, text: &str) {
        // Writing to a string can't fail.
        let _ = write!(self.0, "<{name}>{}</{name}>", escaped(text));
    }

    fn paragraph(&mut self, text: &str) {
        self.html("<p>");
        self.prose(text);
        self.html("</p>\n");
    }

    fn begin(&mut self, document: &Value) {
        self.html("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        self.html("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        self.html(
            "<title>Bailiwick REST</title>\n<link rel=\"stylesheet\" href=\"docs.css\">\n</head>\n<body>\n<main>\n",
        );
        self.html("<h1>Bailiwick REST ");
        self.element("small", string(&document["info"]["version"]));
        self.html("</h1>\n");
        self.paragraph(string(&document["info"]["description"]));
        self.html("<p>The same for programs: <a href=\"openapi.json\">openapi.json</a></p>\n<nav>\n<ul>\n");
        for tag in items(&document["tags"]) {
            let name = string(&tag["name"]);
            let _ = writeln!(self.0, "<li><a href=\"#{0}\">{0}</a></li>", escaped(name));
        }
        self.html(
            "<li><a href=\"#codes\">error codes</a></li>\n<li><a href=\"#shapes\">shapes</a></li>\n</ul>\n</nav>\n",
        );
    }

    fn tag(&mut self, document: &Value, tag: &Value) {
        let name = string(&tag["name"]);
        let _ = writeln!(self.0, "<h2 id=\"{0}\">{0}</h2>", escaped(name));
        self.paragraph(string(&tag["description"]));
        for (path, item) in members(&document["paths"]) {
            for (method, operation) in members(item) {
                if items(&operation["tags"]).iter().any(|tag| tag == name) {
                    self.operation(document, method, path, operation);
                }
            }
        }
    }

    fn operation(&mut self, document: &Value, method: &str, path: &str, operation: &Value) {
        let _ = writeln!(self.0, "<section id=\"{}\">", escaped(string(&operation["operationId"])));
        let _ = write!(self.0, "<h3><span class=\"method\">{}</span> ", escaped(&method.to_uppercase()));
        self.element("code", path);
        self.html("</h3>\n");
        let (summary, description) = (string(&operation["summary"]), string(&operation["description"]));
        self.paragraph(&format!("{}. {description}", summary.trim_end_matches('.')));
        self.parameters(document, operation);
        if let Some(schema) = body_of(&operation["requestBody"]) {
            self.html("<p>Body: ");
            self.shape(schema);
            self.html("</p>\n");
        }
        self.responses(document, operation);
        self.html("</section>\n");
    }

    fn parameters(&mut self, document: &Value, operation: &Value) {
        self.html("<table>\n<caption>Parameters</caption>\n<thead><tr><th scope=\"col\">name</th><th scope=\"col\">in</th><th scope=\"col\">what</th></tr></thead>\n<tbody>\n");
        for parameter in items(&operation["parameters"]) {
            let parameter = resolved(document, parameter);
            self.html("<tr><th scope=\"row\">");
            self.element("code", string(&parameter["name"]));
            self.html("</th><td>");
            self.text(string(&parameter["in"]));
            self.html("</td><td>");
            self.prose(string(&parameter["description"]));
            self.html("</td></tr>\n");
        }
        self.html("</tbody>\n</table>\n");
    }

    fn responses(&mut self, document: &Value, operation: &Value) {
        self.html("<table>\n<caption>Answers</caption>\n<thead><tr><th scope=\"col\">status</th><th scope=\"col\">what</th></tr></thead>\n<tbody>\n");
        for (status, response) in members(&operation["responses"]) {
            let response = resolved(document, response);
            self.html("<tr><th scope=\"row\">");
            self.text(status);
            self.html("</th><td>");
            self.prose(string(&response["description"]));
            if let Some(schema) = body_of(response) {
                self.html(": ");
                self.shape(schema);
            }
            self.html("</td></tr>\n");
        }
        self.html("</tbody>\n</table>\n");
    }

    fn codes(&mut self) {
        self.html("<h2 id=\"codes\">error codes</h2>\n<dl>\n");
        for code in Code::ALL {
            let _ =
                write!(self.0, "<dt id=\"{0}\"><code>{0}</code>, status {1}: ", code.name(), code.status().as_u16());
            self.text(code.title());
            self.html("</dt>\n<dd>");
            self.prose(code.advice());
            self.html("</dd>\n");
        }
        self.html("</dl>\n");
    }

    fn schemas(&mut self, document: &Value) {
        self.html("<h2 id=\"shapes\">shapes</h2>\n");
        for (name, schema) in members(&document["components"]["schemas"]) {
            let _ = writeln!(self.0, "<section id=\"shape-{0}\">\n<h3>{0}</h3>", escaped(name));
            self.paragraph(string(&schema["description"]));
            self.shape_details(schema);
            self.html("</section>\n");
        }
    }

    /// What a named shape consists of.
    fn shape_details(&mut self, schema: &Value) {
        let values: Vec<&str> = items(&schema["enum"]).iter().map(string).collect();
        if !values.is_empty() {
            self.paragraph(&format!("One of `{}`.", values.join("`, `")));
        }
        for part in items(&schema["allOf"]) {
            match part.get("$ref") {
                Some(_) => {
                    self.html("<p>Everything of ");
                    self.shape(part);
                    self.html(", and:</p>\n");
                }
                None => self.shape_details(part),
            }
        }
        let required = items(&schema["required"]);
        let properties: Vec<_> = members(&schema["properties"]).collect();
        if properties.is_empty() {
            return;
        }
        self.html("<table>\n<thead><tr><th scope=\"col\">member</th><th scope=\"col\">type</th><th scope=\"col\">what</th></tr></thead>\n<tbody>\n");
        for (name, property) in properties {
            self.html("<tr><th scope=\"row\">");
            self.element("code", name);
            self.html("</th><td>");
            self.shape(property);
            self.html("</td><td>");
            if !required.iter().any(|required| required == name) {
                self.html("optional. ");
            }
            self.prose(string(&property["description"]));
            self.html("</td></tr>\n");
        }
        self.html("</tbody>\n</table>\n");
    }

    /// A shape by its name or its type.
    fn shape(&mut self, schema: &Value) {
        if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
            let _ = write!(self.0, "<a href=\"#shape-{0}\">{0}</a>", escaped(name));
            return;
        }
        let choices = ["oneOf", "anyOf"].into_iter().flat_map(|name| items(&schema[name]));
        match &schema["type"] {
            Value::String(kind) if kind == "array" => {
                self.html("array of ");
                self.shape(&schema["items"]);
            }
            Value::String(kind) => self.text(kind),
            Value::Array(kinds) => self.text(&kinds.iter().map(string).collect::<Vec<_>>().join(" or ")),
            _ => {
                let mut any = false;
                for choice in choices {
                    self.html(if any { " or " } else { "" });
                    self.shape(choice);
                    any = true;
                }
                self.html(if any { "" } else { "any JSON" });
            }
        }
    }

    fn end(&mut self) {
        self.html("</main>\n</body>\n</html>\n");
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(name, member)| (name.as_str(), member))
}

/// What a reference inside the document leads to; anything else as it is.
fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let path = value["$ref"].as_str().and_then(|path| path.strip_prefix('#'));
    path.and_then(|path| document.pointer(path)).unwrap_or(value)
}

/// The schema of a body, whatever its content type.
fn body_of(value: &Value) -> Option<&Value> {
    members(&value["content"]).map(|(_, content)| &content["schema"]).find(|schema| !schema.is_null())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docs::document;

    #[test]
    fn every_operation_shape_and_code_has_its_place() {
        let document = document();
        let page = render(&document);
        for (path, item) in members(&document["paths"]) {
            assert!(page.contains(&format!("<code>{path}</code>")), "{path}");
            for (_, operation) in members(item) {
                assert!(page.contains(&format!("id=\"{}\"", string(&operation["operationId"]))));
            }
        }
        for (name, _) in members(&document["components"]["schemas"]) {
            assert!(page.contains(&format!("id=\"shape-{name}\"")), "{name}");
        }
        for code in Code::ALL {
            assert!(page.contains(&format!("<dt id=\"{}\">", code.name())));
        }
        assert!(!page.contains("<script"));
    }

    #[test]
    fn text_cannot_become_markup() {
        let mut page = Page(String::new());
        page.prose("a <b> & `c\"<d>`");
        assert_eq!(page.0, "a &lt;b&gt; &amp; <code>c&quot;&lt;d&gt;</code>");
    }
}
