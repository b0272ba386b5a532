//! Requests and their answers.

use super::protocol::{
    self, Breakpoint, Breakpoints, Filters, Launch, Message, Place, Request, SetBreakpoints,
};
use super::state::{self, Handle};
use super::{Launcher, protocol::Source};
use crate::{Console, Expression, PointKind, Step, Stop};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use visakit_exec::Interrupt;

/// Stops the run, once there is one.
#[derive(Clone, Default)]
pub(crate) struct Pause(Arc<Mutex<Option<Interrupt>>>);

impl Pause {
    pub(crate) fn raise(&self) {
        if let Ok(interrupt) = self.0.lock()
            && let Some(interrupt) = &*interrupt
        {
            interrupt.raise();
        }
    }
}

/// Whose breakpoints a request replaces.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Owner {
    Source(String),
    Functions,
    Instructions,
    Data,
    Exceptions,
}

pub(crate) struct Server<W, L> {
    output: W,
    launch: L,
    console: Option<Console>,
    pause: Pause,
    sequence: i64,
    stop_on_entry: bool,
    points: Vec<(Owner, u32)>,
    pub(crate) handles: Vec<Handle>,
}

/// What to do after answering a request.
enum Then {
    Nothing,
    /// The editor may set breakpoints.
    Initialized,
    /// The run moved, or is at its start.
    Stopped,
    End,
}

type Answer = Result<(Value, Then), String>;

fn arguments<T: DeserializeOwned + Default>(request: &Request) -> Result<T, String> {
    if request.arguments.is_null() {
        return Ok(T::default());
    }
    serde_json::from_value(request.arguments.clone()).map_err(|error| error.to_string())
}

impl<W: Write, L: Launcher> Server<W, L> {
    pub(crate) fn new(output: W, launch: L) -> Self {
        Self {
            output,
            launch,
            console: None,
            pause: Pause::default(),
            sequence: 0,
            stop_on_entry: false,
            points: Vec::new(),
            handles: Vec::new(),
        }
    }

    pub(crate) fn pause(&self) -> Pause {
        self.pause.clone()
    }

    fn send(&mut self, make: impl FnOnce(i64) -> Message) -> io::Result<()> {
        self.sequence += 1;
        protocol::write(&mut self.output, &make(self.sequence))
    }

    fn event(&mut self, event: &'static str, body: Value) -> io::Result<()> {
        self.send(|seq| Message::Event { seq, event, body })
    }

    /// Answers a request; false when the session is over.
    pub(crate) fn answer(&mut self, request: &Request) -> io::Result<bool> {
        let answer = self.handle(request);
        let (success, message, body, then) = match answer {
            Ok((body, then)) => (true, None, body, then),
            Err(message) => (false, Some(message), Value::Null, Then::Nothing),
        };
        self.send(|seq| Message::Response {
            seq,
            request_seq: request.seq,
            success,
            command: request.command.clone(),
            message,
            body,
        })?;
        match then {
            Then::Nothing => {}
            Then::Initialized => self.event("initialized", json!({}))?,
            Then::Stopped => self.stopped()?,
            Then::End => return Ok(false),
        }
        Ok(true)
    }

    /// Informs the editor why the run has stopped.
    fn stopped(&mut self) -> io::Result<()> {
        self.handles.clear();
        let Some(console) = &self.console else {
            return Ok(());
        };
        let session = &console.session;
        if session.is_ended() {
            let text = format!("{}\n", console.stop_text());
            self.event("output", json!({ "category": "console", "output": text }))?;
            // The state can still be read, and the run can go back.
        }
        let Some(console) = &self.console else {
            return Ok(());
        };
        let session = &console.session;
        let (reason, points) = match session.stop() {
            Stop::Start => ("entry", Vec::new()),
            Stop::Breakpoint(id) | Stop::Condition { point: id, .. } => {
                let found = session.points().iter().find(|p| p.id == *id);
                let finding = found.is_some_and(|p| matches!(p.what, PointKind::Findings(_)));
                (if finding { "exception" } else { "breakpoint" }, vec![*id])
            }
            Stop::Changed { point, .. } | Stop::Accessed { point, .. } => {
                ("data breakpoint", vec![*point])
            }
            Stop::Fault(_) => ("exception", Vec::new()),
            Stop::Interrupted => ("pause", Vec::new()),
            Stop::Ended => ("exit", Vec::new()),
            _ => ("step", Vec::new()),
        };
        let (thread, _) = session.focus();
        let body = json!({
            "reason": reason,
            "description": console.stop_text(),
            "text": console.stop_text(),
            "threadId": thread + 1,
            "allThreadsStopped": true,
            "hitBreakpointIds": points,
        });
        self.event("stopped", body)
    }

    fn console(&mut self) -> Result<&mut Console, String> {
        self.console
            .as_mut()
            .ok_or_else(|| "nothing has been launched".to_owned())
    }

    fn handle(&mut self, request: &Request) -> Answer {
        let body = match request.command.as_str() {
            "initialize" => {
                return Ok((
                    json!({
                        "supportsConfigurationDoneRequest": true,
                        "supportsFunctionBreakpoints": true,
                        "supportsConditionalBreakpoints": true,
                        "supportsInstructionBreakpoints": true,
                        "supportsDataBreakpoints": true,
                        "supportsStepBack": true,
                        "exceptionBreakpointFilters": [{
                            "filter": "finding",
                            "label": "Findings of checks",
                            "description": "Stop where a check finds something: memory, undefined values, races, barriers",
                            "default": false,
                        }],
                        "supportsSteppingGranularity": true,
                        "supportsSetVariable": true,
                        "supportsSetExpression": true,
                        "supportsEvaluateForHovers": true,
                        "supportsReadMemoryRequest": true,
                        "supportsWriteMemoryRequest": true,
                        "supportsDisassembleRequest": true,
                        "supportsRestartRequest": true,
                        "supportsTerminateRequest": true,
                        "supportsLoadedSourcesRequest": true,
                    }),
                    Then::Nothing,
                ));
            }
            "launch" => return self.launched(&arguments(request)?),
            "disconnect" | "terminate" => return Ok((Value::Null, Then::End)),
            "configurationDone" => {
                if self.stop_on_entry {
                    return Ok((Value::Null, Then::Stopped));
                }
                return self.go(|console| console.session.go_on().map(|_| ()));
            }
            "continue" => {
                let (_, then) = self.go(|console| console.session.go_on().map(|_| ()))?;
                return Ok((json!({ "allThreadsContinued": true }), then));
            }
            "reverseContinue" => return self.go(|console| console.session.go_back().map(|_| ())),
            "next" | "stepIn" | "stepOut" | "stepBack" => return self.step(request),
            "restart" => {
                return self.go(|c| c.session.go_to(crate::Time::default()).map(|_| ()));
            }
            // The reader has already raised the interrupt; a run that has stopped has no use for it.
            "pause" => {
                self.console()?.session.interrupt().lower();
                Value::Null
            }
            "setBreakpoints" => self.set_breakpoints(&arguments(request)?)?,
            "setFunctionBreakpoints" => {
                let wanted: Breakpoints = arguments(request)?;
                self.set(&Owner::Functions, &wanted.breakpoints, |console, wanted| {
                    console.session.places(&wanted.name).map(PointKind::Code)
                })?
            }
            "setInstructionBreakpoints" => {
                let wanted: Breakpoints = arguments(request)?;
                self.set(
                    &Owner::Instructions,
                    &wanted.breakpoints,
                    |console, wanted| {
                        let reference = &wanted.instruction_reference;
                        let place = state::place(console, reference, wanted.offset);
                        let none = || crate::DebugError::NoPlace {
                            text: reference.clone(),
                        };
                        Ok(PointKind::Code(vec![place.ok_or_else(none)?]))
                    },
                )?
            }
            "dataBreakpointInfo" => self.data_info(&arguments(request)?)?,
            "setDataBreakpoints" => {
                let wanted: Breakpoints = arguments(request)?;
                self.set(&Owner::Data, &wanted.breakpoints, |console, wanted| {
                    let access = wanted.access_type.as_deref().unwrap_or("write");
                    let (read, write) = (access != "write", access != "read");
                    let what = Expression::parse(&wanted.data_id)?;
                    console.session.watch(&what, read, write)
                })?
            }
            "setExceptionBreakpoints" => {
                let wanted: Filters = arguments(request)?;
                let wanted = wanted.filters.iter().filter(|name| *name == "finding");
                let wanted: Vec<_> = wanted.map(|_| Breakpoint::default()).collect();
                self.set(&Owner::Exceptions, &wanted, |console, _| console.findings())?
            }
            "threads" => state::threads(self.console()?),
            "stackTrace" => state::stack(self.console()?, &arguments(request)?)?,
            "scopes" => {
                let wanted: Place = arguments(request)?;
                let console = self.console.as_mut().ok_or("nothing has been launched")?;
                state::scopes(console, &mut self.handles, wanted.frame_id.unwrap_or(0))?
            }
            "variables" => {
                let wanted: Place = arguments(request)?;
                let console = self.console.as_mut().ok_or("nothing has been launched")?;
                state::variables(console, &mut self.handles, &wanted)?
            }
            "setVariable" => {
                let wanted: Place = arguments(request)?;
                let console = self.console.as_mut().ok_or("nothing has been launched")?;
                state::set_variable(console, &self.handles, &wanted)?
            }
            "setExpression" => {
                let wanted: Place = arguments(request)?;
                let console = self.frame(wanted.frame_id)?;
                state::assign(console, &wanted.expression, &wanted.value)?
            }
            "evaluate" => return self.evaluate(&arguments(request)?),
            "source" => state::source(self.console()?, &arguments(request)?)?,
            "loadedSources" => state::loaded_sources(self.console()?),
            "disassemble" => state::disassemble(self.console()?, &arguments(request)?)?,
            "readMemory" => state::read_memory(self.console()?, &arguments(request)?)?,
            "writeMemory" => state::write_memory(self.console()?, &arguments(request)?)?,
            other => return Err(format!("`{other}` is not supported")),
        };
        Ok((body, Then::Nothing))
    }

    fn launched(&mut self, wanted: &Launch) -> Answer {
        let mut words = wanted.args.clone();
        if let Some(case) = &wanted.case {
            words.extend(["--case".to_owned(), case.clone()]);
        }
        if let Some(folder) = &wanted.source {
            words.extend(["--source".to_owned(), folder.clone()]);
        }
        let console = (self.launch)(&words)?;
        if let Ok(mut pause) = self.pause.0.lock() {
            *pause = Some(console.session.interrupt().clone());
        }
        self.stop_on_entry = wanted.stop_on_entry;
        self.console = Some(console);
        Ok((Value::Null, Then::Initialized))
    }

    fn go(&mut self, run: impl FnOnce(&mut Console) -> Result<(), crate::DebugError>) -> Answer {
        run(self.console()?).map_err(|error| error.to_string())?;
        Ok((Value::Null, Then::Stopped))
    }

    fn step(&mut self, request: &Request) -> Answer {
        let wanted: Place = arguments(request)?;
        let instruction = wanted.granularity.as_deref() == Some("instruction");
        let step = match (request.command.as_str(), instruction) {
            ("next" | "stepBack", false) => Step::OverLine,
            ("next" | "stepBack", true) => Step::OverInstruction,
            ("stepIn", false) => Step::Line,
            ("stepIn", true) => Step::Instruction,
            _ => Step::Out,
        };
        let back = request.command == "stepBack";
        self.go(|console| {
            let session = &mut console.session;
            let (thread, lane) = session.focus();
            let wanted = usize::try_from(wanted.thread_id - 1).unwrap_or(thread);
            if wanted != thread {
                session.look_at(wanted, lane)?;
            }
            if back {
                session.step_back(step)?;
            } else {
                session.step(step)?;
            }
            Ok(())
        })
    }

    /// Selects a frame.
    fn frame(&mut self, frame: Option<i64>) -> Result<&mut Console, String> {
        let console = self.console()?;
        if let Some(frame) = frame {
            state::look_at(console, frame)?;
        }
        Ok(console)
    }

    fn set_breakpoints(&mut self, wanted: &SetBreakpoints) -> Result<Value, String> {
        let Source {
            name,
            path,
            source_reference,
        } = &wanted.source;
        let reference = source_reference.unwrap_or(0);
        let key = match (reference, path, name) {
            (0, Some(path), _) => path.clone(),
            (0, None, name) => name.clone().unwrap_or_default(),
            (reference, _, _) => format!("#{reference}"),
        };
        self.set(
            &Owner::Source(key.clone()),
            &wanted.breakpoints,
            |console, wanted| {
                if let Some(place) = state::listed(console, reference, wanted.line) {
                    return Ok(PointKind::Code(vec![place]));
                }
                let file = state::file_of(console, &key).unwrap_or_else(|| key.clone());
                let places = console.session.places(&format!("{file}:{}", wanted.line))?;
                Ok(PointKind::Code(places))
            },
        )
    }

    /// Replaces the breakpoints of an owner.
    fn set(
        &mut self,
        owner: &Owner,
        wanted: &[Breakpoint],
        make: impl Fn(&mut Console, &Breakpoint) -> Result<PointKind, crate::DebugError>,
    ) -> Result<Value, String> {
        let console = self.console.as_mut().ok_or("nothing has been launched")?;
        self.points.retain(|(of, id)| {
            let gone = of == owner;
            if gone {
                // It exists: only this removes it.
                let _ = console.session.remove(*id);
            }
            !gone
        });
        let mut set = Vec::new();
        for one in wanted {
            let condition = one.condition.as_deref().filter(|c| !c.trim().is_empty());
            let made = condition.map(Expression::parse).transpose();
            let made = made.and_then(|condition| Ok((make(console, one)?, condition)));
            set.push(match made {
                Ok((kind, condition)) => {
                    let place = match &kind {
                        PointKind::Code(places) => places.first().copied(),
                        _ => None,
                    };
                    let id = console.session.add(kind, condition, &point_text(one));
                    self.points.push((owner.clone(), id));
                    let source = place.and_then(|place| console.session.source(place));
                    let line = match owner {
                        Owner::Source(name) if name.starts_with('#') => Some(one.line),
                        _ => source.map(|s| s.line),
                    };
                    let mut told = json!({ "id": id, "verified": true });
                    if let (Some(line), Some(told)) = (line, told.as_object_mut()) {
                        told.insert("line".to_owned(), line.into());
                    }
                    told
                }
                Err(error) => json!({ "verified": false, "message": error.to_string() }),
            });
        }
        Ok(json!({ "breakpoints": set }))
    }

    fn data_info(&mut self, wanted: &Place) -> Result<Value, String> {
        let console = self.console.as_mut().ok_or("nothing has been launched")?;
        let name = state::full_name(&self.handles, wanted.variables_reference, &wanted.name);
        let expression = Expression::parse(&name).map_err(|e| e.to_string())?;
        Ok(match console.session.watch(&expression, false, true) {
            Ok(PointKind::Register { .. }) => json!({
                "dataId": name, "description": format!("changes of {name}"), "accessTypes": ["write"],
            }),
            Ok(_) => json!({
                "dataId": name, "description": name, "accessTypes": ["read", "write", "readWrite"],
            }),
            Err(error) => json!({ "dataId": null, "description": error.to_string() }),
        })
    }

    fn evaluate(&mut self, wanted: &Place) -> Answer {
        let console = self.frame(wanted.frame_id)?;
        if wanted.context.as_deref() == Some("repl") {
            // Commands first, expressions else.
            let word = wanted
                .expression
                .split_whitespace()
                .next()
                .unwrap_or_default();
            let is_command = crate::COMMANDS.iter().any(|c| c.names.contains(&word));
            if is_command {
                let reply = console.run(&wanted.expression).map_err(|e| e.to_string())?;
                let then = match (reply.quit, reply.moved) {
                    (true, _) => Then::End,
                    (_, true) => Then::Stopped,
                    _ => Then::Nothing,
                };
                let body = json!({ "result": reply.text, "variablesReference": 0 });
                return Ok((body, then));
            }
        }
        if let Some(variable) = console.session.variable(&wanted.expression) {
            let elements = variable.elements().join(" ");
            return Ok((
                json!({ "result": elements, "type": state::type_text(&variable), "variablesReference": 0 }),
                Then::Nothing,
            ));
        }
        if let Some(view) = console.session.source_view(&wanted.expression) {
            view.text.as_ref().map_err(Clone::clone)?;
            return Ok((
                json!({ "result": state::local_text(&view), "type": view.of, "variablesReference": 0 }),
                Then::Nothing,
            ));
        }
        let expression = Expression::parse(&wanted.expression).map_err(|e| e.to_string())?;
        let value = console.session.evaluate(&expression);
        let value = value.map_err(|e| e.to_string())?;
        Ok((
            json!({ "result": value.to_string(), "variablesReference": 0 }),
            Then::Nothing,
        ))
    }
}

fn point_text(point: &Breakpoint) -> String {
    let all = [&point.name, &point.instruction_reference, &point.data_id];
    let text = all.into_iter().find(|text| !text.is_empty());
    let mut text = text.map_or_else(|| format!("line {}", point.line), Clone::clone);
    if let Some(condition) = &point.condition {
        text.push_str(" if ");
        text.push_str(condition);
    }
    text
}
