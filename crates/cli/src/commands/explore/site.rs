//! The server of the explorer: the page, the files that were named, and a compiler for sources that are opened in the page.

use super::made;
use crate::sources::Building;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::json;
use std::io::{BufRead, BufReader, ErrorKind, Read, Take, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Longer requests are none of a browser.
const LONGEST_REQUEST: u64 = 16 << 10;
/// Longer sources are not compiled.
const LONGEST_SOURCE: u64 = 4 << 20;
/// Time limit for a browser to send a request and to receive the response, from the first byte to the last.
const PATIENCE: Duration = Duration::from_secs(20);
/// The page itself.
const START: &str = "index.html";
/// Offsets in an object have 32 bits.
pub(super) const LARGEST_FILE: u64 = u32::MAX as u64;

/// A file that is served.
pub(super) struct Served {
    name: String,
    content: Content,
}

enum Content {
    At(PathBuf),
    Made(Vec<u8>),
}

impl Served {
    /// A file as it is whenever it is asked for.
    pub(super) fn at(path: PathBuf) -> Self {
        let name = path.file_name().unwrap_or(path.as_os_str());
        Self {
            name: name.to_string_lossy().into_owned(),
            content: Content::At(path),
        }
    }

    /// A file that is nowhere else.
    pub(super) fn made(name: String, bytes: Vec<u8>) -> Self {
        Self {
            name,
            content: Content::Made(bytes),
        }
    }

    /// The name that the page has for it.
    #[cfg(test)]
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    fn bytes(&self) -> Option<Vec<u8>> {
        match &self.content {
            Content::At(path) => visakit_files::read(path, LARGEST_FILE).ok(),
            Content::Made(bytes) => Some(bytes.clone()),
        }
    }
}

/// What is served.
pub(super) struct Site {
    pub(super) token: String,
    pub(super) port: u16,
    pub(super) files: Vec<Served>,
    pub(super) web: PathBuf,
    pub(super) building: Building,
    /// One source is compiled at a time.
    pub(super) compiling: Mutex<()>,
}

/// How the answer to a request begins.
enum Reply {
    Found(&'static str, Vec<u8>),
    Refused(&'static str, &'static str),
}

/// What a browser asks.
#[derive(Default)]
struct Request {
    method: String,
    target: String,
    host: String,
    body: Vec<u8>,
}

impl Request {
    /// Reads a request, if it is whole and not longer than such requests are.
    fn read(reader: &mut BufReader<Take<impl Read>>) -> std::io::Result<Result<Self, Reply>> {
        const CUT: Reply = Reply::Refused("400 Bad Request", "the request does not end");
        let mut request = Self::default();
        let mut length = 0;
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let mut words = line.split_ascii_whitespace().map(ToOwned::to_owned);
        request.method = words.next().unwrap_or_default();
        request.target = words.next().unwrap_or_default();
        loop {
            let mut header = String::new();
            match reader.read_line(&mut header) {
                Ok(0) => return Ok(Err(CUT)),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::InvalidData => continue,
                Err(error) => return Err(error),
            }
            let header = header.trim_end();
            if header.is_empty() {
                break;
            }
            let (name, value) = header.split_once(':').unwrap_or_default();
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "host" => request.host = value.to_owned(),
                "content-length" => length = value.parse().unwrap_or(u64::MAX),
                _ => {}
            }
        }
        if length > LONGEST_SOURCE {
            let why = "a source has at most 4 MiB";
            return Ok(Err(Reply::Refused("413 Content Too Large", why)));
        }
        // Some of the body may be read already.
        reader.get_mut().set_limit(length);
        reader.take(length).read_to_end(&mut request.body)?;
        let is_whole = request.body.len() as u64 == length;
        Ok(is_whole.then_some(request).ok_or(CUT))
    }
}

/// A name that a page gives, without what would make it a path or an option.
fn plain_name(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let name: String = name.chars().filter(|c| plain(*c)).collect();
    match name.trim_start_matches(['.', '-']) {
        "" => "source.cl".to_owned(),
        name => name.to_owned(),
    }
}

/// A connection with a time limit for everything on it: a browser that sends or takes a byte now and then does not keep
/// it open.
struct Timed<'s> {
    stream: &'s TcpStream,
    end: Instant,
}

impl<'s> Timed<'s> {
    fn new(stream: &'s TcpStream, patience: Duration) -> Self {
        let end = Instant::now() + patience;
        Self { stream, end }
    }

    /// The time that is left.
    fn left(&self) -> std::io::Result<Option<Duration>> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        Ok(Some(left))
    }
}

impl Read for Timed<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(bytes)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.stream.flush()
    }
}

impl Site {
    pub(super) fn address(&self) -> String {
        let names: Vec<_> = self.files.iter().map(|file| escaped(&file.name)).collect();
        let fragment = if names.is_empty() {
            String::new()
        } else {
            format!("#files={}", names.join("&"))
        };
        format!("http://127.0.0.1:{}/{}/{fragment}", self.port, self.token)
    }

    pub(super) fn answer(&self, stream: &TcpStream) -> std::io::Result<()> {
        let asked = Timed::new(stream, PATIENCE);
        let reply = self.reply(&mut BufReader::new(asked.take(LONGEST_REQUEST)))?;
        let (status, kind, body) = match &reply {
            Reply::Found(kind, body) => ("200 OK", *kind, body.as_slice()),
            Reply::Refused(status, why) => (*status, "text/plain; charset=utf-8", why.as_bytes()),
        };
        // A compiler takes its time.
        let mut out = Timed::new(stream, PATIENCE);
        write!(
            out,
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n{HEADERS}\r\n",
            body.len()
        )?;
        out.write_all(body)?;
        out.flush()
    }

    /// Reads a request and answers it.
    fn reply(&self, reader: &mut BufReader<Take<impl Read>>) -> std::io::Result<Reply> {
        Ok(match Request::read(reader)? {
            Ok(request) => self.serve(&request),
            Err(refused) => refused,
        })
    }

    fn serve(&self, request: &Request) -> Reply {
        let names = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        if !names.contains(&request.host) {
            return Reply::Refused("403 Forbidden", "another host was asked for");
        }
        let target = request.target.split('#').next().unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let path = path
            .strip_prefix('/')
            .and_then(|p| p.strip_prefix(self.token.as_str()));
        let Some(path) = path.and_then(|p| p.strip_prefix('/')) else {
            return Reply::Refused(
                "403 Forbidden",
                "the address is not the one that was printed",
            );
        };
        match (request.method.as_str(), path) {
            ("GET", _) => self.get(path),
            ("POST", "compile") => self.compile(query, &request.body),
            _ => Reply::Refused("405 Method Not Allowed", "only GET"),
        }
    }

    /// What the compiler makes of a source, or what it says of it, as a document.
    fn compile(&self, name: &str, source: &[u8]) -> Reply {
        let one = self.compiling.lock();
        let _one = one.unwrap_or_else(PoisonError::into_inner);
        let document = match made::files(plain_name(name).as_ref(), source, self.building) {
            Ok(files) => {
                let files = files.iter().filter_map(|file| {
                    let bytes = BASE64_STANDARD.encode(file.bytes()?);
                    Some(json!({ "name": file.name, "bytes": bytes }))
                });
                json!({ "files": files.collect::<Vec<_>>() })
            }
            Err(error) => json!({ "error": error.to_string() }),
        };
        Reply::Found("application/json", document.to_string().into_bytes())
    }

    fn get(&self, path: &str) -> Reply {
        if let Some(number) = path.strip_prefix("files/") {
            let file = number.parse::<usize>().ok().and_then(|n| self.files.get(n));
            return match file.and_then(Served::bytes) {
                Some(bytes) => Reply::Found(kind(""), bytes),
                None => Reply::Refused("404 Not Found", "no such file"),
            };
        }
        let path = if path.is_empty() { START } else { path };
        match self.page(path) {
            Some(bytes) if path == START => Reply::Found(kind(path), self.told(&bytes)),
            Some(bytes) => Reply::Found(kind(path), bytes),
            None => Reply::Refused("404 Not Found", "no such file"),
        }
    }

    /// The page, with the device that sources are compiled for: a page of another server has no compiler.
    fn told(&self, page: &[u8]) -> Vec<u8> {
        let device = self.building.device(None);
        let told = format!("<head><meta name=\"compiles-for\" content=\"{device}\" />");
        String::from_utf8_lossy(page)
            .replacen("<head>", &told, 1)
            .into_bytes()
    }

    fn page(&self, path: &str) -> Option<Vec<u8>> {
        // Only plain names: there is no way out of the folder.
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let sound =
            |part: &str| !part.is_empty() && !part.starts_with('.') && part.chars().all(plain);
        path.split('/')
            .all(sound)
            .then(|| visakit_files::read(&self.web.join(path), LARGEST_FILE).ok())?
    }
}

/// The headers sent with every response.
const HEADERS: &str = "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\nX-Frame-Options: DENY\r\nContent-Security-Policy: default-src 'none'; \
    script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; worker-src 'self'; connect-src 'self'; img-src 'self' data:; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n";

fn kind(path: &str) -> &'static str {
    match Path::new(path).extension().and_then(|e| e.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    }
}

/// A name, escaped for use in an address.
fn escaped(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::disallowed_methods,
        clippy::unwrap_used,
        clippy::panic,
        reason = "tests"
    )]
    use super::*;
    use std::io::Cursor;
    use std::net::{Ipv4Addr, TcpListener};
    use std::thread;

    fn site(folder: &Path) -> Site {
        Site {
            token: "secret".to_owned(),
            port: 4711,
            files: vec![
                Served::at(folder.join("a b.isa")),
                Served::made("k.zeinfo".to_owned(), b"made".to_vec()),
            ],
            web: folder.to_owned(),
            building: Building::default(),
            compiling: Mutex::new(()),
        }
    }

    fn status(site: &Site, request: &str) -> String {
        match site
            .reply(&mut BufReader::new(
                Cursor::new(request).take(LONGEST_REQUEST),
            ))
            .unwrap()
        {
            Reply::Found(kind, body) => format!("{kind} {}", body.len()),
            Reply::Refused(status, _) => status.to_owned(),
        }
    }

    #[test]
    fn names_of_sources_are_no_paths() {
        let names = ["k.cl", "../../etc/passwd", "-o", "", "a b%20.cl", "/"].map(plain_name);
        assert_eq!(
            names,
            [
                "k.cl",
                "etcpasswd",
                "o",
                "source.cl",
                "ab20.cl",
                "source.cl"
            ]
        );
    }

    /// However the bytes of a request are spread over time, the connection ends.
    #[test]
    fn slow_browsers_are_left() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let slow = thread::spawn(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            let begun = Instant::now();
            // Each pause is shorter than the limit, and all of them are longer.
            while stream.write_all(b"G").is_ok() && begun.elapsed() < Duration::from_secs(20) {
                thread::sleep(Duration::from_millis(20));
            }
            begun.elapsed()
        });
        let (stream, _) = listener.accept().unwrap();
        let mut timed = Timed::new(&stream, Duration::from_millis(200));
        let error = BufReader::new(&mut timed).read_line(&mut String::new());
        let kind = error.unwrap_err().kind();
        assert!(
            matches!(kind, ErrorKind::TimedOut | ErrorKind::WouldBlock),
            "{kind}"
        );
        assert!(timed.write(b"x").is_err());
        drop(stream);
        assert!(slow.join().unwrap() < Duration::from_secs(10));
    }

    #[test]
    fn only_the_printed_address_is_answered() {
        let folder = std::env::temp_dir().join(format!("visakit-explore-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("assets")).unwrap();
        std::fs::write(folder.join("index.html"), "<head></head>").unwrap();
        std::fs::write(folder.join("a b.isa"), "CISA!").unwrap();
        std::fs::write(folder.join(".hidden"), "no").unwrap();
        let site = site(&folder);
        assert_eq!(
            site.address(),
            "http://127.0.0.1:4711/secret/#files=a%20b.isa&k.zeinfo"
        );
        let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:4711\r\n\r\n");
        let compile = |token: &str, length: u64, body: &str| {
            format!(
                "POST {token}/compile?k.cl HTTP/1.1\r\nHost: 127.0.0.1:4711\r\nContent-Length: {length}\r\n\r\n{body}"
            )
        };
        let cases = [
            (get("/secret/"), "text/html; charset=utf-8 55"),
            (get("/secret/files/0"), "application/octet-stream 5"),
            (get("/secret/files/1"), "application/octet-stream 4"),
            (get("/secret/files/2"), "404 Not Found"),
            (get("/secret/files/../index.html"), "404 Not Found"),
            (get("/secret/../index.html"), "404 Not Found"),
            (get("/secret/.hidden"), "404 Not Found"),
            (get("/secret//etc/passwd"), "404 Not Found"),
            (get("/secret/nothing.js"), "404 Not Found"),
            (get("/"), "403 Forbidden"),
            (get("/secretive/"), "403 Forbidden"),
            (
                "GET /secret/ HTTP/1.1\r\nHost: example.org\r\n\r\n".to_owned(),
                "403 Forbidden",
            ),
            ("GET /secret/ HTTP/1.1\r\n\r\n".to_owned(), "403 Forbidden"),
            (
                "GET /secret/ HTTP/1.1\r\nHost: 127.0.0.1:4711\r\n".to_owned(),
                "400 Bad Request",
            ),
            (
                "POST /secret/ HTTP/1.1\r\nHost: 127.0.0.1:4711\r\n\r\n".to_owned(),
                "405 Method Not Allowed",
            ),
            (compile("/secretive", 3, "abc"), "403 Forbidden"),
            (compile("/secret", 4, "abc"), "400 Bad Request"),
            (compile("/secret", u64::MAX, "abc"), "413 Content Too Large"),
            (String::new(), "400 Bad Request"),
        ];
        for (request, expected) in cases {
            assert_eq!(status(&site, &request), expected, "{request}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
