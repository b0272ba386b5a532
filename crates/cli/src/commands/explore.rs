//! `visakit explore`: the explorer in the browser, served only to this machine.
//!
//! The server only serves a folder of files: the page, and the files named on the command line. It listens on the
//! loopback interface; every address begins with a secret token that only the printed one has, and requests that name
//! another host are rejected, so that no other page in the browser has access.

use crate::installed::named_or_found;
use crate::output::{Failure, stdout};
use crate::sources::Building;
use crate::{Status, input};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use visakit_compile::is_source;
use visakit_files::TemporaryFolder;
use visakit_launch::Content;

/// The folder of the page, where it is installed.
const PAGE: &str = "explorer";

/// Longer requests are none of a browser.
const LONGEST_REQUEST: u64 = 16 << 10;
/// Time limit for a browser to send a request and to receive the response, from the first byte to the last.
const PATIENCE: Duration = Duration::from_secs(20);
/// Offsets in an object have 32 bits.
const LARGEST_FILE: u64 = u32::MAX as u64;
/// Requests that are answered at the same time.
const MOST_REQUESTS: usize = 64;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  visakit explore kernel.isa
      prints the address to open in a browser
  visakit explore kernel.isa kernel.zeinfo
      with what is needed to run it on a grid
  visakit explore old.isa new.isa           two files side by side
  visakit explore k.cl --device a770
      what Intel's compiler makes of a source

It listens on this machine alone, on a free port; the address has a token that other pages do not know.")]
pub(crate) struct Args {
    /// Objects, texts, zebins and what belongs to them (.zeinfo, sources); a source alone is compiled; none opens an
    /// example.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    building: Building,
    /// Serve the page from this folder instead of the one that is installed.
    #[arg(long, value_name = "FOLDER")]
    web: Option<PathBuf>,
    /// Listen on this port instead of a free one.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
}

/// What is served.
struct Site {
    token: String,
    port: u16,
    files: Vec<PathBuf>,
    web: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    for file in &args.files {
        if !file.is_file() {
            return Err(Failure::Other(format!(
                "{}: no such file",
                input::name(file)
            )));
        }
    }
    if let Some(web) = &args.web
        && !web.join("index.html").is_file()
    {
        return Err(Failure::Other(format!(
            "{}: has no index.html; `cargo xtask web` makes web/dist",
            input::name(web)
        )));
    }
    let web = named_or_found(args.web.as_deref(), PAGE, "--web")?;
    let mut files = args.files.clone();
    // What is compiled is served as long as this runs.
    let mut _made = None;
    if let [only] = files.as_slice()
        && Content::of_file(only).is_ok_and(is_source)
    {
        let folder = compiled(only, args.building)?;
        files.splice(0..0, listed(folder.path())?);
        _made = Some(folder);
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port))?;
    let site = Arc::new(Site {
        token: token()?,
        port: listener.local_addr()?.port(),
        files,
        web,
    });
    let mut out = stdout();
    writeln!(out, "{}", site.address())?;
    writeln!(
        out,
        "Open this address in a browser on this machine. Ctrl+C ends."
    )?;
    out.flush()?;
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        // One reference is the listener's own.
        if Arc::strong_count(&site) > MOST_REQUESTS {
            continue;
        }
        let site = Arc::clone(&site);
        thread::spawn(move || drop(site.answer(&stream)));
    }
    Ok(Status::Clean)
}

/// A folder with the texts of a source's kernels and their metadata.
fn compiled(source: &Path, building: Building) -> Result<TemporaryFolder, Failure> {
    let bytes = input::read_any(source).map_err(Failure::Other)?;
    let dumped = building.compile(source, &bytes, None)?;
    let temporary = std::env::temp_dir();
    let folder = TemporaryFolder::new(&temporary, "visakit-explore")?;
    let write =
        |name: String, bytes: &[u8]| visakit_files::scratch(&folder.path().join(name), bytes);
    for name in dumped.dump.kernels() {
        let kernel = dumped.dump.kernel(Some(&name))?;
        let plain: String = name
            .chars()
            .map(|c| if c.is_alphanumeric() { c } else { '_' })
            .collect();
        for (number, text) in kernel.sources.iter().enumerate() {
            let end = number
                .checked_sub(1)
                .map_or_else(String::new, |n| format!("_f{n}"));
            write(format!("{plain}{end}.visaasm"), &text.bytes)?;
        }
    }
    let stem = source.file_stem().unwrap_or_default().to_string_lossy();
    let metadata = dumped.dump.metadata().iter().find_map(|m| m.zebin.as_ref());
    if let Some(zebin) = metadata {
        write(
            format!("{stem}.zeinfo"),
            zebin.zeinfo.trim_end_matches('\0').as_bytes(),
        )?;
    }
    Ok(folder)
}

/// The files of a folder, texts first.
fn listed(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = std::fs::read_dir(folder)?;
    let mut files: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.sort_by_key(|path| (path.extension() == Some("zeinfo".as_ref()), path.clone()));
    Ok(files)
}

/// A token that nobody can guess.
fn token() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|e| Failure::Other(format!("no random numbers: {e}")))?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}

/// How the answer to a request begins.
enum Reply {
    Found(&'static str, Vec<u8>),
    Refused(&'static str, &'static str),
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
    fn address(&self) -> String {
        let names = self.files.iter().map(|file| {
            let name = file.file_name().unwrap_or(file.as_os_str());
            escaped(&name.to_string_lossy())
        });
        let names: Vec<String> = names.collect();
        let fragment = if names.is_empty() {
            String::new()
        } else {
            format!("#files={}", names.join("&"))
        };
        format!("http://127.0.0.1:{}/{}/{fragment}", self.port, self.token)
    }

    fn answer(&self, stream: &TcpStream) -> std::io::Result<()> {
        let mut out = Timed::new(stream, PATIENCE);
        let mut reader = BufReader::new((&mut out).take(LONGEST_REQUEST));
        let reply = self.reply(&mut reader)?;
        let (status, kind, body) = match &reply {
            Reply::Found(kind, body) => ("200 OK", *kind, body.as_slice()),
            Reply::Refused(status, why) => (*status, "text/plain; charset=utf-8", why.as_bytes()),
        };
        write!(
            out,
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n{HEADERS}\r\n",
            body.len()
        )?;
        out.write_all(body)?;
        out.flush()
    }

    fn reply(&self, reader: &mut impl BufRead) -> std::io::Result<Reply> {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let mut words = line.split_ascii_whitespace();
        let (method, target) = (words.next(), words.next().unwrap_or_default().to_owned());
        if method != Some("GET") {
            return Ok(Reply::Refused("405 Method Not Allowed", "only GET"));
        }
        let mut host = None;
        loop {
            let mut header = String::new();
            match reader.read_line(&mut header) {
                Ok(0) => {
                    return Ok(Reply::Refused(
                        "400 Bad Request",
                        "the request does not end",
                    ));
                }
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::InvalidData => continue,
                Err(error) => return Err(error),
            }
            let header = header.trim_end();
            if header.is_empty() {
                break;
            }
            if let Some((name, value)) = header.split_once(':')
                && name.eq_ignore_ascii_case("host")
            {
                host = Some(value.trim().to_owned());
            }
        }
        Ok(self.serve(&target, host.as_deref()))
    }

    /// The answer to a request for a target by a host.
    fn serve(&self, target: &str, host: Option<&str>) -> Reply {
        let names = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        if !host.is_some_and(|host| names.iter().any(|name| name == host)) {
            return Reply::Refused("403 Forbidden", "another host was asked for");
        }
        let path = target.split(['?', '#']).next().unwrap_or_default();
        let path = path
            .strip_prefix('/')
            .and_then(|p| p.strip_prefix(self.token.as_str()));
        let Some(path) = path.and_then(|p| p.strip_prefix('/')) else {
            return Reply::Refused(
                "403 Forbidden",
                "the address is not the one that was printed",
            );
        };
        if let Some(number) = path.strip_prefix("files/") {
            let file = number.parse::<usize>().ok().and_then(|n| self.files.get(n));
            return match file.map(|path| visakit_files::read(path, LARGEST_FILE)) {
                Some(Ok(bytes)) => Reply::Found("application/octet-stream", bytes),
                _ => Reply::Refused("404 Not Found", "no such file"),
            };
        }
        let path = if path.is_empty() { "index.html" } else { path };
        match self.page(path) {
            Some(bytes) => Reply::Found(kind(path), bytes),
            None => Reply::Refused("404 Not Found", "no such file"),
        }
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

    fn site(folder: &Path) -> Site {
        Site {
            token: "secret".to_owned(),
            port: 4711,
            files: vec![folder.join("a b.isa")],
            web: folder.to_owned(),
        }
    }

    fn status(site: &Site, request: &str) -> String {
        match site.reply(&mut Cursor::new(request)).unwrap() {
            Reply::Found(kind, body) => format!("{kind} {}", body.len()),
            Reply::Refused(status, _) => status.to_owned(),
        }
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
        std::fs::write(folder.join("index.html"), "page").unwrap();
        std::fs::write(folder.join("a b.isa"), "CISA!").unwrap();
        std::fs::write(folder.join(".hidden"), "no").unwrap();
        let site = site(&folder);
        assert_eq!(
            site.address(),
            "http://127.0.0.1:4711/secret/#files=a%20b.isa"
        );
        let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:4711\r\n\r\n");
        let cases = [
            (get("/secret/"), "text/html; charset=utf-8 4"),
            (get("/secret/files/0"), "application/octet-stream 5"),
            (get("/secret/files/1"), "404 Not Found"),
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
            (String::new(), "405 Method Not Allowed"),
        ];
        for (request, expected) in cases {
            assert_eq!(status(&site, &request), expected, "{request}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
