//! Text with colours, for notebooks.

use std::fmt::Write;
use visakit::text::{Token, tokens};

/// The colour of a kind of token.
fn colour(token: Token) -> Option<&'static str> {
    match token {
        Token::Comment => Some("#6a737d"),
        Token::Number => Some("#005cc5"),
        Token::String => Some("#032f62"),
        Token::Mnemonic | Token::Directive => Some("#d73a49"),
        _ => None,
    }
}

fn escape(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c => out.push(c),
        }
    }
}

/// A text as a block of code.
pub(crate) fn code(text: &str) -> String {
    let mut out = String::from("<pre>");
    let mut at = 0;
    for (token, span) in tokens(text.as_bytes()) {
        let (Some(before), Some(piece)) =
            (text.get(at..span.start), text.get(span.start..span.end()))
        else {
            continue;
        };
        at = span.end();
        escape(&mut out, before);
        match colour(token) {
            Some(colour) => {
                let _ = write!(out, "<span style=\"color:{colour}\">");
                escape(&mut out, piece);
                out.push_str("</span>");
            }
            None => escape(&mut out, piece),
        }
    }
    escape(&mut out, text.get(at..).unwrap_or_default());
    out.push_str("</pre>");
    out
}
