//! The loop: messages in order, cancellation, documents.

use crate::Error;
use crate::answers::{self, Answer, CONTROL_FLOW};
use crate::convert::{TOKEN_MODIFIERS, TOKEN_TYPES, View, offset};
use crossbeam_channel::RecvTimeoutError;
use gen_lsp_types as lsp;
use gen_lsp_types::{Notification as _, Request as _};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
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
    /// The tokens that the client was told last, and how often it was told some.
    tokens: Option<Vec<lsp::SemanticToken>>,
    told: u64,
}

/// What is known of a client.
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

    /// Keeps the tokens that a client is told, and names them.
    pub(crate) fn tell_tokens(
        &mut self,
        uri: &lsp::Uri,
        tokens: Vec<lsp::SemanticToken>,
    ) -> Option<String> {
        let open = self.documents.get_mut(uri)?;
        open.tokens = Some(tokens);
        open.told += 1;
        Some(open.told.to_string())
    }

    /// The tokens that a client was told under that name, if they are the last ones.
    pub(crate) fn told_tokens(
        &mut self,
        uri: &lsp::Uri,
        name: &str,
    ) -> Option<Vec<lsp::SemanticToken>> {
        let open = self.documents.get_mut(uri)?;
        let told = open.tokens.take();
        told.filter(|_| open.told.to_string() == name)
    }

    /// Whether the client carries out a command.
    pub(crate) fn client_has(&self, command: &str) -> bool {
        self.commands.iter().any(|known| known == command)
    }
}

pub(crate) fn run(connection: &Connection) -> Result<bool, Error> {
    let (id, params) = connection.initialize_start().map_err(Error::Protocol)?;
    let (mut server, result) = begin(&params);
    connection
        .initialize_finish(id, result)
        .map_err(Error::Protocol)?;
    let mut queue = VecDeque::new();
    loop {
        if queue.is_empty() {
            let waits = server.documents.values().any(|open| open.changed);
            let next = if waits {
                connection.receiver.recv_timeout(PAUSE)
            } else {
                connection
                    .receiver
                    .recv()
                    .map_err(|_| RecvTimeoutError::Disconnected)
            };
            match next {
                Ok(message) => queue.push_back(message),
                Err(RecvTimeoutError::Timeout) => {
                    if !server.publish(connection) {
                        return Ok(false);
                    }
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(false),
            }
        }
        queue.extend(connection.receiver.try_iter());
        for id in cancelled(&mut queue) {
            let message = "the client has cancelled the request".to_owned();
            let response = Response::new_err(id, ErrorCode::RequestCanceled as i32, message);
            if connection.sender.send(response.into()).is_err() {
                return Ok(false);
            }
        }
        let Some(message) = queue.pop_front() else {
            continue;
        };
        match message {
            Message::Request(request) => {
                let response = server.answer(request);
                if connection.sender.send(response.into()).is_err() {
                    return Ok(false);
                }
            }
            Message::Notification(notification) => {
                if notification.method == "exit" {
                    return Ok(server.ending);
                }
                let gone = server.notice(notification);
                // The problems of a document that is closed are nobody's.
                if let Some(uri) = gone
                    && !send(
                        connection,
                        lsp::PublishDiagnosticsParams::new(uri, None, Vec::new()),
                    )
                {
                    return Ok(false);
                }
            }
            Message::Response(_) => {}
        }
    }
}

/// Takes the requests out of a queue that a later message cancels.
fn cancelled(queue: &mut VecDeque<Message>) -> Vec<RequestId> {
    let ids = queue.iter().filter_map(|message| match message {
        Message::Notification(n) if n.method == "$/cancelRequest" => match n.params.get("id")? {
            Value::String(id) => Some(RequestId::from(id.clone())),
            Value::Number(id) => Some(RequestId::from(i32::try_from(id.as_i64()?).ok()?)),
            _ => None,
        },
        _ => None,
    });
    let ids: Vec<RequestId> = ids.collect();
    if ids.is_empty() {
        return ids;
    }
    let mut found = Vec::new();
    queue.retain(|message| match message {
        Message::Request(request) if ids.contains(&request.id) => {
            found.push(request.id.clone());
            false
        }
        Message::Notification(n) => n.method != "$/cancelRequest",
        _ => true,
    });
    found
}

fn send(connection: &Connection, params: lsp::PublishDiagnosticsParams) -> bool {
    let method = lsp::PublishDiagnosticsNotification::METHOD
        .as_str()
        .to_owned();
    let message = Notification::new(method, params);
    connection.sender.send(message.into()).is_ok()
}

/// What the client says of itself, and what it is told.
fn begin(params: &Value) -> (Server, Value) {
    // Each part by itself: a client that is wrong about one is still served.
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
    (server, json!(result))
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

/// The request, if it is of this kind, as an answer.
fn answer_to<R>(
    request: &mut Request,
    ask: impl FnOnce(&R::Params) -> Answer<Value>,
) -> Option<Response>
where
    R: lsp::Request,
    R::Params: DeserializeOwned,
{
    if request.method != R::METHOD.as_str() {
        return None;
    }
    let id = request.id.clone();
    let params = match serde_json::from_value(request.params.take()) {
        Ok(params) => params,
        Err(error) => {
            let message = format!("the parameters of {} are others: {error}", request.method);
            return Some(Response::new_err(
                id,
                ErrorCode::InvalidParams as i32,
                message,
            ));
        }
    };
    Some(match ask(&params) {
        Ok(answer) => Response::new_ok(id, answer.unwrap_or_default()),
        Err(refusal) => Response::new_err(id, refusal.code as i32, refusal.message),
    })
}

impl Server {
    fn answer(&mut self, mut request: Request) -> Response {
        if self.ending {
            let message = "the client has asked for the end".to_owned();
            return Response::new_err(request.id, ErrorCode::InvalidRequest as i32, message);
        }
        if request.method == lsp::ShutdownRequest::METHOD.as_str() {
            self.ending = true;
            return Response::new_ok(request.id, Value::Null);
        }
        macro_rules! ask {
            ($($kind:ident => $function:ident,)*) => {
                $(if let Some(response) = answer_to::<lsp::$kind>(&mut request, |params| {
                    answers::$function(self, params).map(|answer| answer.map(plain))
                }) {
                    return response;
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
        Response::new_err(request.id, ErrorCode::MethodNotFound as i32, message)
    }

    /// Takes a notification; ones that are unknown or malformed mean nothing. Gives the document that was closed.
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

    /// Publishes the problems of documents that have changed; `false` where nobody listens.
    fn publish(&mut self, connection: &Connection) -> bool {
        let encoding = self.encoding;
        let mut changed = self.documents.iter_mut().filter(|(_, open)| open.changed);
        changed.all(|(uri, open)| {
            open.changed = false;
            let document = &open.document;
            let view = View { document, encoding };
            let problems = document.problems().iter();
            let problems = problems.map(|problem| view.problem(uri, problem)).collect();
            send(
                connection,
                lsp::PublishDiagnosticsParams::new(uri.clone(), open.version, problems),
            )
        })
    }
}

/// The answer as JSON; types of the protocol have a form.
fn plain(answer: impl Serialize) -> Value {
    serde_json::to_value(answer).unwrap_or_default()
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
