//! Requests about a document, one function each.

use crate::convert::{View, completion_kind, fold_kind, narrow, wide};
use crate::server::Server;
use crate::tokens;
use gen_lsp_types as lsp;
use lsp_server::ErrorCode;
use serde_json::{Value, json};
use std::collections::HashMap;
use visakit_rewrite::graph::{Cfg, Theme, svg};

/// Why a request has no answer.
pub(crate) struct Refusal {
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
}

impl Refusal {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::with(ErrorCode::RequestFailed, message)
    }

    pub(crate) fn with(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}

pub(crate) type Answer<T> = Result<Option<T>, Refusal>;

/// The command that the server itself carries out: the control flow of a routine as an SVG image.
pub(crate) const CONTROL_FLOW: &str = "visakit.controlFlow";
/// A command that clients implement, if they announce it.
const SHOW_CONTROL_FLOW: &str = "visakit.showControlFlow";
const RUN: &str = "visakit.run";

pub(crate) fn hover(server: &Server, params: &lsp::HoverParams) -> Answer<lsp::Hover> {
    let at = &params.text_document_position_params;
    let Some(view) = server.view(&at.text_document.uri) else {
        return Ok(None);
    };
    let found = view.document.hover(view.offset(at.position));
    Ok(found.map(|hover| lsp::Hover {
        contents: lsp::Contents::MarkupContent(lsp::MarkupContent {
            kind: lsp::MarkupKind::Markdown,
            value: hover.markdown,
        }),
        range: Some(view.range(&hover.span)),
    }))
}

pub(crate) fn completion(
    server: &Server,
    params: &lsp::CompletionParams,
) -> Answer<lsp::CompletionResponse> {
    let at = &params.text_document_position_params;
    let Some(view) = server.view(&at.text_document.uri) else {
        return Ok(None);
    };
    let (range, found) = view.document.complete(view.offset(at.position));
    let range = view.range(&range);
    let items = found.into_iter().map(|proposal| lsp::CompletionItem {
        kind: Some(completion_kind(proposal.kind)),
        detail: (!proposal.detail.is_empty()).then_some(proposal.detail),
        text_edit: Some(lsp::CompletionItemTextEdit::TextEdit(lsp::TextEdit {
            range,
            new_text: proposal.label.clone(),
        })),
        label: proposal.label,
        ..lsp::CompletionItem::default()
    });
    Ok(Some(lsp::CompletionResponse::CompletionItemList(
        items.collect(),
    )))
}

pub(crate) fn definition(
    server: &Server,
    params: &lsp::DefinitionParams,
) -> Answer<lsp::DefinitionResponse> {
    let at = &params.text_document_position_params;
    let Some(view) = server.view(&at.text_document.uri) else {
        return Ok(None);
    };
    let found = view.document.definition(view.offset(at.position));
    Ok(found.map(|definition| {
        lsp::DefinitionResponse::Definition(lsp::Definition::Location(lsp::Location {
            uri: at.text_document.uri.clone(),
            range: view.range(&definition.name),
        }))
    }))
}

pub(crate) fn references(
    server: &Server,
    params: &lsp::ReferenceParams,
) -> Answer<Vec<lsp::Location>> {
    let at = &params.text_document_position_params;
    let Some(view) = server.view(&at.text_document.uri) else {
        return Ok(None);
    };
    let offset = view.offset(at.position);
    let mut found = view.document.references(offset);
    if !params.context.include_declaration
        && let Some(definition) = view.document.definition(offset)
    {
        found.retain(|range| *range != definition.name);
    }
    let uri = &at.text_document.uri;
    let locations = found.iter().map(|range| lsp::Location {
        uri: uri.clone(),
        range: view.range(range),
    });
    Ok(Some(locations.collect()))
}

pub(crate) fn marks(
    server: &Server,
    params: &lsp::DocumentHighlightParams,
) -> Answer<Vec<lsp::DocumentHighlight>> {
    let at = &params.text_document_position_params;
    let Some(view) = server.view(&at.text_document.uri) else {
        return Ok(None);
    };
    let found = view.document.references(view.offset(at.position));
    let marks = found.iter().map(|range| lsp::DocumentHighlight {
        range: view.range(range),
        kind: Some(lsp::DocumentHighlightKind::Text),
    });
    Ok(Some(marks.collect()))
}

pub(crate) fn prepare_rename(
    server: &Server,
    params: &lsp::PrepareRenameParams,
) -> Answer<lsp::PrepareRenameResult> {
    let at = &params.text_document_position_params;
    let Some(view) = server.view(&at.text_document.uri) else {
        return Ok(None);
    };
    let name = view.document.name_at(view.offset(at.position));
    let declared = name.filter(|name| name.definition.is_some());
    Ok(declared.map(|name| lsp::PrepareRenameResult::Range(view.range(&name.span))))
}

pub(crate) fn rename(server: &Server, params: &lsp::RenameParams) -> Answer<lsp::WorkspaceEdit> {
    let at = &params.text_document_position_params;
    let Some(view) = server.view(&at.text_document.uri) else {
        return Ok(None);
    };
    let edits = view
        .document
        .rename(view.offset(at.position), &params.new_name);
    let edits = edits.map_err(|error| Refusal::new(error.to_string()))?;
    let edits = edits.iter().map(|edit| view.edit(edit)).collect();
    Ok(Some(change(at.text_document.uri.clone(), edits)))
}

fn change(uri: lsp::Uri, edits: Vec<lsp::TextEdit>) -> lsp::WorkspaceEdit {
    lsp::WorkspaceEdit {
        changes: Some(HashMap::from([(uri, edits)])),
        ..lsp::WorkspaceEdit::default()
    }
}

pub(crate) fn symbols(
    server: &Server,
    params: &lsp::DocumentSymbolParams,
) -> Answer<lsp::DocumentSymbolResponse> {
    let Some(view) = server.view(&params.text_document.uri) else {
        return Ok(None);
    };
    let outline = view.document.outline();
    let symbols = outline.iter().map(|entry| view.symbol(entry)).collect();
    Ok(Some(lsp::DocumentSymbolResponse::DocumentSymbolList(
        symbols,
    )))
}

pub(crate) fn folds(
    server: &Server,
    params: &lsp::FoldingRangeParams,
) -> Answer<Vec<lsp::FoldingRange>> {
    let Some(view) = server.view(&params.text_document.uri) else {
        return Ok(None);
    };
    let folds = view
        .document
        .folds()
        .into_iter()
        .map(|fold| lsp::FoldingRange {
            start_line: narrow(fold.lines.start),
            end_line: narrow(fold.lines.end.saturating_sub(1)),
            kind: fold_kind(fold.kind),
            ..lsp::FoldingRange::default()
        });
    Ok(Some(folds.collect()))
}

pub(crate) fn tokens(
    server: &mut Server,
    params: &lsp::SemanticTokensParams,
) -> Answer<lsp::SemanticTokens> {
    let uri = &params.text_document.uri;
    Ok(server
        .tokens(uri)
        .map(|(_, tokens, told)| lsp::SemanticTokens {
            result_id: Some(told),
            data: tokens.packed(),
        }))
}

pub(crate) fn token_changes(
    server: &mut Server,
    params: &lsp::SemanticTokensDeltaParams,
) -> Answer<lsp::SemanticTokensDeltaResponse> {
    let uri = &params.text_document.uri;
    let Some((before, tokens, told)) = server.tokens(uri) else {
        return Ok(None);
    };
    let result_id = Some(told);
    // A client that was sent something else in between gets all of them.
    let before = before.filter(|(name, _)| *name == params.previous_result_id);
    Ok(Some(match before {
        Some((_, before)) => {
            let edits = tokens.since(&before);
            lsp::SemanticTokensDelta { result_id, edits }.into()
        }
        None => {
            let data = tokens.packed();
            lsp::SemanticTokens { result_id, data }.into()
        }
    }))
}

pub(crate) fn tokens_of(
    server: &Server,
    params: &lsp::SemanticTokensRangeParams,
) -> Answer<lsp::SemanticTokens> {
    let Some(view) = server.view(&params.text_document.uri) else {
        return Ok(None);
    };
    let lines = wide(params.range.start.line)..wide(params.range.end.line).saturating_add(1);
    Ok(Some(lsp::SemanticTokens {
        result_id: None,
        data: tokens::of_lines(view, lines),
    }))
}

pub(crate) fn format(
    server: &Server,
    params: &lsp::DocumentFormattingParams,
) -> Answer<Vec<lsp::TextEdit>> {
    let Some(view) = server.view(&params.text_document.uri) else {
        return Ok(None);
    };
    let edits = view.document.format();
    Ok(Some(edits.iter().map(|edit| view.edit(edit)).collect()))
}

pub(crate) fn hints(server: &Server, params: &lsp::InlayHintParams) -> Answer<Vec<lsp::InlayHint>> {
    let Some(view) = server.view(&params.text_document.uri) else {
        return Ok(None);
    };
    let hints = view.document.hints(view.offsets(&params.range));
    let hints = hints.into_iter().map(|hint| lsp::InlayHint {
        position: view.position(hint.at),
        label: lsp::Label::String(hint.label),
        kind: None,
        text_edits: None,
        tooltip: Some(lsp::Tooltip::String(hint.detail)),
        padding_left: Some(true),
        padding_right: None,
        data: None,
    });
    Ok(Some(hints.collect()))
}

pub(crate) fn actions(
    server: &Server,
    params: &lsp::CodeActionParams,
) -> Answer<Vec<lsp::CodeActionResponse>> {
    let uri = &params.text_document.uri;
    let Some(view) = server.view(uri) else {
        return Ok(None);
    };
    let quick = [lsp::CodeActionKind::QuickFix, lsp::CodeActionKind::Empty];
    if params
        .context
        .only
        .as_ref()
        .is_some_and(|only| !only.iter().any(|kind| quick.contains(kind)))
    {
        return Ok(Some(Vec::new()));
    }
    let fixes = view.document.fixes(view.offsets(&params.range));
    let actions = fixes.into_iter().map(|(problem, fix)| {
        lsp::CodeActionResponse::CodeAction(lsp::CodeAction {
            title: fix.title.clone(),
            kind: Some(lsp::CodeActionKind::QuickFix),
            diagnostics: Some(vec![view.problem(uri, problem)]),
            is_preferred: Some(true),
            edit: Some(change(uri.clone(), vec![view.edit(&fix.edit)])),
            ..lsp::CodeAction::default()
        })
    });
    Ok(Some(actions.collect()))
}

pub(crate) fn lenses(server: &Server, params: &lsp::CodeLensParams) -> Answer<Vec<lsp::CodeLens>> {
    let uri = &params.text_document.uri;
    let Some(view) = server.view(uri) else {
        return Ok(None);
    };
    let mut lenses = Vec::new();
    for lens in view.document.lenses() {
        let at = view.document.line_start(lens.line);
        let mut offer = |title: &str, command: &str| {
            if server.client_has(command) {
                lenses.push(lsp::CodeLens {
                    range: view.range(&(at..at)),
                    command: Some(lsp::Command {
                        title: title.to_owned(),
                        tooltip: None,
                        command: command.to_owned(),
                        arguments: Some(vec![json!(uri.to_string()), json!(lens.name)]),
                    }),
                    data: None,
                });
            }
        };
        if lens.kernel {
            offer("Run", RUN);
        }
        offer("Show control flow", SHOW_CONTROL_FLOW);
    }
    Ok(Some(lenses))
}

/// `visakit.controlFlow`: address and name of a routine to an SVG image.
pub(crate) fn execute(server: &Server, params: &lsp::ExecuteCommandParams) -> Answer<Value> {
    if params.command != CONTROL_FLOW {
        let message = format!(
            "no command is called {:?}, expected {CONTROL_FLOW}",
            params.command
        );
        return Err(Refusal {
            code: ErrorCode::InvalidParams,
            message,
        });
    }
    let arguments = params.arguments.iter().flatten();
    let mut words = arguments.filter_map(Value::as_str);
    let (Some(uri), Some(name)) = (words.next(), words.next()) else {
        return Err(Refusal {
            code: ErrorCode::InvalidParams,
            message: format!(
                "{CONTROL_FLOW} takes the address of a document and the name of a routine"
            ),
        });
    };
    let Some(view) = server.view(&lsp::Uri::from(uri)) else {
        return Err(Refusal::new(format!("{uri} is not open")));
    };
    control_flow(view, name).map(|image| Some(json!(image)))
}

fn control_flow(view: View<'_>, name: &str) -> Result<String, Refusal> {
    let analysis = view.document.analysis();
    if !analysis.assembles() {
        return Err(Refusal::new(
            "the text does not assemble, so that nobody knows where control goes",
        ));
    }
    let object = analysis.object();
    let mut routines = object.routines();
    let found = routines.find(|(_, routine)| routine.display_name() == name);
    let Some((id, body)) = found.and_then(|(id, routine)| Some((id, routine.body()?))) else {
        return Err(Refusal::new(format!("no routine is called {name:?}")));
    };
    let mut image = String::new();
    // Writing to a string does not fail.
    let _ = svg(
        &mut image,
        &[Cfg::of(body).picture(object, id)],
        Theme::default(),
    );
    Ok(image)
}
