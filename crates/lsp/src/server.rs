//! The loop: messages in order, cancellation, documents.

use crate::Error;
use crate::answers::{self, Answer, CONTROL_FLOW, Refusal};
use crate::convert::{TOKEN_MODIFIERS, TOKEN_TYPES, View, offset};
use crate::tokens::Tokens;
use crate::transport::{Client, Incoming};
use gen_lsp_types as lsp;
use gen_lsp_types::{Notification as _, Request as _};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;
use visakit_isa::Platform;
use visakit_language::{Document, Encoding, Settings};

/// Problems are published when no message has come for so long.
const PAUSE: Duration = Duration::from_millis(100);

/// A document that a client has open.
#[derive(Debug)]
struct Open {
    document: Document,
    version: Option<i32>,
    /// Its problems have not been published since it changed.
    changed: bool,
    /// The tokens that the client was sent last, and how often it was sent some.
    tokens: Option<Arc<Tokens>>,
    told: u64,
}

/// The state of a session.
#[derive(Debug)]
pub(crate) struct Server {
    documents: HashMap<lsp::Uri, Open>,
    encoding: Encoding,
    settings: Settings,
    /// Commands that the client carries out.
    commands: Vec<String>,
    /// The client has asked for the end.
    ending: bool,
}

impl Server {
    /// A document, if it is open.
    pub(crate) fn view(&self, uri: &lsp::Uri) -> Option<View<'_>> {
        let open = self.documents.get(uri)?;
        Some(View {
            document: &open.document,
            encoding: self.encoding,
        })
    }

    /// The tokens of a document, which the client is sent now, and their name; before them those that it was sent last.
    #[allow(clippy::type_complexity)]
    pub(crate) fn tokens(
        &mut self,
        uri: &lsp::Uri,
    ) -> Option<(Option<(String, Arc<Tokens>)>, Arc<Tokens>, String)> {
        let encoding = self.encoding;
        let open = self.documents.get_mut(uri)?;
        let view = View {
            document: &open.document,
            encoding,
        };
        let tokens = Arc::new(Tokens::of(view, open.tokens.as_deref()));
        let before = open.tokens.replace(tokens.clone());
        let before = before.map(|before| (open.told.to_string(), before));
        open.told += 1;
        Some((before, tokens, open.told.to_string()))
    }

    /// Whether the client implements a command.
    pub(crate) fn client_has(&self, command: &str) -> bool {
        self.commands.iter().any(|known| known == command)
    }
}

/// Serves the client until it ends: see [`crate::serve`].
pub(crate) fn run(
    incoming: &Receiver<Incoming>,
    client: &mut Client<impl Write>,
) -> Result<bool, Error> {
    let mut server = None;
    let ended = converse(incoming, client, &mut server);
    match ended {
        Ok(()) if server.is_none() => Err(Error::NoHandshake),
        Ok(()) => Ok(server.is_some_and(|server| server.ending)),
        // A client that does not listen has gone.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Error::Io(error)),
    }
}

/// Takes messages in order until the client says that it ends, or its stream does.
fn converse(
    incoming: &Receiver<Incoming>,
    client: &mut Client<impl Write>,
    server: &mut Option<Server>,
) -> io::Result<()> {
    let mut queue = VecDeque::new();
    loop {
        if queue.is_empty() {
            let changed = |server: &Server| server.documents.values().any(|open| open.changed);
            let next = match server {
                Some(server) if changed(server) => match incoming.recv_timeout(PAUSE) {
                    Err(RecvTimeoutError::Timeout) => {
                        server.publish(client)?;
                        continue;
                    }
                    next => next.ok(),
                },
                _ => incoming.recv().ok(),
            };
            let Some(next) = next else {
                // Its requests have been answered, and nobody is connected any more.
                if let Some(server) = server {
                    server.ending = false;
                }
                return Ok(());
            };
            queue.push_back(next);
        }
        queue.extend(incoming.try_iter());
        for id in cancelled(&mut queue) {
            let message = "the client has cancelled the request";
            let refusal = Refusal::with(ErrorCode::RequestCanceled, message);
            client.refuse(Some(&id), &refusal)?;
        }
        match queue.pop_front() {
            Some(Incoming::Message(Message::Request(request))) => {
                answer(server, client, request)?;
            }
            Some(Incoming::Message(Message::Notification(notification))) => {
                if notification.method == "exit" {
                    return Ok(());
                }
                let gone = server
                    .as_mut()
                    .and_then(|server| server.notice(notification));
                // The problems of a closed document are withdrawn.
                if let Some(uri) = gone {
                    tell(
                        client,
                        &lsp::PublishDiagnosticsParams::new(uri, None, Vec::new()),
                    )?;
                }
            }
            Some(Incoming::Malformed(error)) => {
                let message = format!("this is no message: {error}");
                client.refuse(None, &Refusal::with(ErrorCode::ParseError, message))?;
            }
            Some(Incoming::Broken(error)) => return Err(error),
            Some(Incoming::Message(Message::Response(_))) | None => {}
        }
    }
}

/// The response to a request, or the reason for an error, at any stage of the session.
fn answer(
    server: &mut Option<Server>,
    client: &mut Client<impl Write>,
    mut request: Request,
) -> io::Result<()> {
    let first = request.method == lsp::InitializeRequest::METHOD.as_str();
    let refusal = match server {
        None if first => {
            let (new, result) = begin(&request.params);
            *server = Some(new);
            return client.answer(&request.id, &result);
        }
        None => Refusal::with(
            ErrorCode::ServerNotInitialized,
            "the first request must be `initialize`",
        ),
        Some(_) if first => Refusal::with(ErrorCode::InvalidRequest, "the server is initialized"),
        Some(server) => return server.answer(client, &mut request),
    };
    client.refuse(Some(&request.id), &refusal)
}

/// Takes the requests out of a queue that a later message cancels.
fn cancelled(queue: &mut VecDeque<Incoming>) -> Vec<RequestId> {
    let cancels = |message: &Incoming| match message {
        Incoming::Message(Message::Notification(n)) if n.method == "$/cancelRequest" => {
            Some(n.params.get("id").cloned().unwrap_or_default())
        }
        _ => None,
    };
    let ids = queue.iter().filter_map(|message| match cancels(message)? {
        Value::String(id) => Some(RequestId::from(id)),
        Value::Number(id) => Some(RequestId::from(i32::try_from(id.as_i64()?).ok()?)),
        _ => None,
    });
    let ids: Vec<RequestId> = ids.collect();
    let mut found = Vec::new();
    queue.retain(|message| match message {
        Incoming::Message(Message::Request(request)) if ids.contains(&request.id) => {
            found.push(request.id.clone());
            false
        }
        message => cancels(message).is_none(),
    });
    found
}

/// Publishes the problems of a document.
fn tell(
    client: &mut Client<impl Write>,
    problems: &lsp::PublishDiagnosticsParams,
) -> io::Result<()> {
    let method = lsp::PublishDiagnosticsNotification::METHOD;
    client.notify(method.as_str(), problems)
}

/// Evaluates the client's capabilities, and returns the server's.
fn begin(params: &Value) -> (Server, lsp::InitializeResult) {
    // Each part separately: a client that is wrong about one is still served.
    let offered = params.pointer("/capabilities/general/positionEncodings");
    let offered = offered
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    // Bytes need no conversion.
    let known = [
        (lsp::PositionEncodingKind::UTF8, Encoding::Utf8, "utf-8"),
        (lsp::PositionEncodingKind::UTF32, Encoding::Utf32, "utf-32"),
    ];
    let mut known = known.into_iter();
    let chosen = known.find(|(.., name)| offered.iter().any(|o| o.as_str() == Some(*name)));
    let (kind, encoding) = match chosen {
        Some((kind, encoding, _)) => (kind, encoding),
        None => (lsp::PositionEncodingKind::UTF16, Encoding::Utf16),
    };
    let options = params.get("initializationOptions");
    let commands = options
        .and_then(|o| o.get("commands"))
        .and_then(Value::as_array);
    let commands = commands.into_iter().flatten().filter_map(Value::as_str);
    let server = Server {
        documents: HashMap::new(),
        encoding,
        settings: options.map(settings).unwrap_or_default(),
        commands: commands.map(str::to_owned).collect(),
        ending: false,
    };
    let result = lsp::InitializeResult {
        capabilities: capabilities(kind),
        server_info: Some(lsp::ServerInfo {
            name: "visakit".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        }),
    };
    (server, result)
}

/// `{"platform": "PVC"}`
fn settings(options: &Value) -> Settings {
    let platform = options.get("platform").and_then(Value::as_str);
    Settings {
        platform: platform.and_then(Platform::from_name),
    }
}

fn capabilities(encoding: lsp::PositionEncodingKind) -> lsp::ServerCapabilities {
    let characters = [".", "%", "(", ":", "=", "<", " "];
    lsp::ServerCapabilities {
        position_encoding: Some(encoding),
        text_document_sync: Some(lsp::TextDocumentSync::Options(
            lsp::TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(lsp::TextDocumentSyncKind::Incremental),
                ..lsp::TextDocumentSyncOptions::default()
            },
        )),
        completion_provider: Some(lsp::CompletionOptions {
            trigger_characters: Some(characters.map(str::to_owned).to_vec()),
            ..lsp::CompletionOptions::default()
        }),
        hover_provider: Some(true.into()),
        definition_provider: Some(true.into()),
        references_provider: Some(true.into()),
        document_highlight_provider: Some(true.into()),
        document_symbol_provider: Some(true.into()),
        folding_range_provider: Some(true.into()),
        document_formatting_provider: Some(true.into()),
        inlay_hint_provider: Some(true.into()),
        rename_provider: Some(lsp::RenameProvider::RenameOptions(lsp::RenameOptions {
            prepare_provider: Some(true),
            ..lsp::RenameOptions::default()
        })),
        code_action_provider: Some(lsp::CodeActionProvider::CodeActionOptions(
            lsp::CodeActionOptions {
                code_action_kinds: Some(vec![lsp::CodeActionKind::QuickFix]),
                ..lsp::CodeActionOptions::default()
            },
        )),
        code_lens_provider: Some(lsp::CodeLensOptions::default()),
        execute_command_provider: Some(lsp::ExecuteCommandOptions {
            commands: vec![CONTROL_FLOW.to_owned()],
            ..lsp::ExecuteCommandOptions::default()
        }),
        semantic_tokens_provider: Some(lsp::SemanticTokensProvider::SemanticTokensOptions(
            lsp::SemanticTokensOptions {
                legend: lsp::SemanticTokensLegend {
                    token_types: TOKEN_TYPES.map(str::to_owned).to_vec(),
                    token_modifiers: TOKEN_MODIFIERS.map(str::to_owned).to_vec(),
                },
                range: Some(true.into()),
                full: Some(lsp::SemanticTokensFullDelta::new(Some(true)).into()),
                ..lsp::SemanticTokensOptions::default()
            },
        )),
        ..lsp::ServerCapabilities::default()
    }
}

/// Answers the request, if it is of this kind.
fn answer_to<R, T>(
    client: &mut Client<impl Write>,
    request: &mut Request,
    ask: impl FnOnce(&R::Params) -> Answer<T>,
) -> Option<io::Result<()>>
where
    R: lsp::Request,
    R::Params: DeserializeOwned,
    T: Serialize,
{
    if request.method != R::METHOD.as_str() {
        return None;
    }
    let id = &request.id;
    let params = match serde_json::from_value(request.params.take()) {
        Ok(params) => params,
        Err(error) => {
            let message = format!("the parameters of {} are others: {error}", request.method);
            let refusal = Refusal::with(ErrorCode::InvalidParams, message);
            return Some(client.refuse(Some(id), &refusal));
        }
    };
    Some(match ask(&params) {
        Ok(answer) => client.answer(id, &answer),
        Err(refusal) => client.refuse(Some(id), &refusal),
    })
}

impl Server {
    fn answer(&mut self, client: &mut Client<impl Write>, request: &mut Request) -> io::Result<()> {
        if self.ending {
            let message = "the client has asked for the end";
            let refusal = Refusal::with(ErrorCode::InvalidRequest, message);
            return client.refuse(Some(&request.id), &refusal);
        }
        if request.method == lsp::ShutdownRequest::METHOD.as_str() {
            self.ending = true;
            return client.answer(&request.id, ());
        }
        macro_rules! ask {
            ($($kind:ident => $function:ident,)*) => {
                $(if let Some(done) = answer_to::<lsp::$kind, _>(client, request, |params| {
                    answers::$function(self, params)
                }) {
                    return done;
                })*
            };
        }
        ask! {
            HoverRequest => hover,
            CompletionRequest => completion,
            DefinitionRequest => definition,
            ReferencesRequest => references,
            DocumentHighlightRequest => marks,
            PrepareRenameRequest => prepare_rename,
            RenameRequest => rename,
            DocumentSymbolRequest => symbols,
            FoldingRangeRequest => folds,
            SemanticTokensRequest => tokens,
            SemanticTokensDeltaRequest => token_changes,
            SemanticTokensRangeRequest => tokens_of,
            DocumentFormattingRequest => format,
            InlayHintRequest => hints,
            CodeActionRequest => actions,
            CodeLensRequest => lenses,
            ExecuteCommandRequest => execute,
        }
        let message = format!("no request is called {:?}", request.method);
        let refusal = Refusal::with(ErrorCode::MethodNotFound, message);
        client.refuse(Some(&request.id), &refusal)
    }

    /// Handles a notification; unknown or malformed ones are ignored. Returns the document that was closed.
    fn notice(&mut self, notification: Notification) -> Option<lsp::Uri> {
        let Notification { method, params } = notification;
        if method == lsp::DidOpenTextDocumentNotification::METHOD.as_str() {
            let params: lsp::DidOpenTextDocumentParams = serde_json::from_value(params).ok()?;
            let item = params.text_document;
            let open = Open {
                document: Document::with_settings(item.text, self.settings),
                version: Some(item.version),
                changed: true,
                tokens: None,
                told: 0,
            };
            self.documents.insert(item.uri, open);
        } else if method == lsp::DidChangeTextDocumentNotification::METHOD.as_str() {
            let params: lsp::DidChangeTextDocumentParams = serde_json::from_value(params).ok()?;
            let open = self
                .documents
                .get_mut(&params.text_document.text_document_identifier.uri)?;
            for change in params.content_changes {
                apply(&mut open.document, change, self.encoding);
            }
            open.version = Some(params.text_document.version);
            open.changed = true;
        } else if method == lsp::DidCloseTextDocumentNotification::METHOD.as_str() {
            let params: lsp::DidCloseTextDocumentParams = serde_json::from_value(params).ok()?;
            let uri = params.text_document.uri;
            self.documents.remove(&uri)?;
            return Some(uri);
        } else if method == lsp::DidChangeConfigurationNotification::METHOD.as_str() {
            let ours = params
                .pointer("/settings/visakit")
                .or_else(|| params.get("settings"));
            self.settings = ours.map(settings).unwrap_or_default();
            for open in self.documents.values_mut() {
                open.document.set_settings(self.settings);
                open.changed = true;
            }
        }
        None
    }

    /// Publishes the problems of documents that have changed.
    fn publish(&mut self, client: &mut Client<impl Write>) -> io::Result<()> {
        let encoding = self.encoding;
        let changed = self.documents.iter_mut().filter(|(_, open)| open.changed);
        for (uri, open) in changed {
            open.changed = false;
            let document = &open.document;
            let view = View { document, encoding };
            let problems = document.problems().iter();
            let problems = problems.map(|problem| view.problem(uri, problem)).collect();
            let params = lsp::PublishDiagnosticsParams::new(uri.clone(), open.version, problems);
            tell(client, &params)?;
        }
        Ok(())
    }
}

fn apply(document: &mut Document, change: lsp::TextDocumentContentChangeEvent, encoding: Encoding) {
    match change {
        lsp::TextDocumentContentChangeEvent::TextDocumentContentChangePartial(part) => {
            let start = offset(document, part.range.start, encoding);
            let end = offset(document, part.range.end, encoding);
            // Offsets of places are always those of characters, so that only their order can be wrong.
            let (start, end) = (start.min(end), start.max(end));
            let _ = document.edit(start..end, &part.text);
        }
        lsp::TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole) => {
            document.replace(whole.text);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use serde_json::json;

    #[test]
    fn requests_that_are_cancelled_later_are_taken_out() {
        let request = |id: RequestId| {
            let request = Request::new(id, "textDocument/hover".to_owned(), Value::Null);
            Incoming::Message(request.into())
        };
        let cancel = |id: Value| {
            let params = json!({ "id": id });
            Incoming::Message(Notification::new("$/cancelRequest".to_owned(), params).into())
        };
        let mut queue = VecDeque::from([
            request(1.into()),
            request(2.into()),
            request("2".to_owned().into()),
            cancel(json!(2)),
            cancel(json!(77)),
            cancel(json!({ "x": [] })),
            cancel(json!(-1e300)),
            request(3.into()),
            Incoming::Malformed(String::new()),
        ]);
        assert_eq!(cancelled(&mut queue), [2.into()]);
        let left = queue.iter().map(|message| match message {
            Incoming::Message(Message::Request(request)) => Some(request.id.clone()),
            _ => None,
        });
        let left: Vec<_> = left.collect();
        let second = Some("2".to_owned().into());
        assert_eq!(left, [Some(1.into()), second, Some(3.into()), None]);
    }
}
