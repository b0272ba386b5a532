//! Media kernels: a two-dimensional space of threads that know their place, and 2D surfaces.
//!
//! This is the execution model of CM programs: every thread is scalar (all lanes are live) and reads `%thread_x` and
//! `%thread_y`. Inputs are filled by their place in the object's input table, which `visakit info` prints. Kernels that
//! were written for groups get `%group_id_*` and the implicit inputs for sizes and ids.

mod surface;
mod team;

pub use surface::{MediaOutcome, MediaSurface, SurfaceShape, Target};

use crate::bare::image_bytes;
use crate::bind::content;
use crate::config::{Compile, Config};
use crate::effort::{Done, Effort, Observers};
use crate::end::{Reason, Stopped};
use crate::error::LaunchError;
use crate::front::{Dependency, Front};
use crate::objects::{MemoryObject, ObjectKind};
use team::Team;
use visakit_exec::memory::{Format, Image, Surface as Bound};
use visakit_exec::{
    BufferId, Examined, Group, InputClass, InputSlot, Limits, Memory, Observer, Program,
    ThreadStart,
};
use visakit_isa::object::{Object, RoutineId};
use web_time::Instant;

/// Threads of a space; devices take 511 x 511, newer ones 2047 x 2047.
const MOST_SIDE: u32 = 1 << 16;

/// Threads of a group.
const MOST_THREADS: u32 = 1024;

/// Kilobyte, the unit of the attribute `SLMSize`.
const SLM_UNIT: usize = 1024;

/// Scratch memory of a thread in bytes.
const SCRATCH: usize = 256 << 10;

/// A media kernel.
#[derive(Debug)]
pub struct Media {
    program: Program,
    slm: usize,
    memory: Memory,
    surfaces: Vec<(Target, BufferId)>,
    image: Vec<u8>,
    /// Threads in each direction.
    pub space: [u32; 2],
    /// Threads of a group in each direction, for kernels written for groups.
    pub group: Option<[u32; 2]>,
    /// Which threads wait for others.
    pub dependency: Dependency,
}

impl Media {
    /// Translates a kernel, as the configuration wants it: [`Config::strict`], [`Config::count`], [`Config::passes`].
    ///
    /// # Errors
    /// [`LaunchError::Translate`].
    pub fn new(
        object: &Object<'_>,
        routine: RoutineId,
        grf_bytes: u32,
        config: &Config<'_>,
    ) -> Result<Self, LaunchError> {
        let program = Program::new(object, routine, &config.options(grf_bytes))?;
        let body = object.routine(routine).and_then(|r| r.body());
        let slm = body
            .and_then(|b| b.attribute("SLMSize"))
            .and_then(|a| a.value.first().copied())
            .unwrap_or(0);
        let image = vec![0; image_bytes(&program)];
        Ok(Self {
            program,
            slm: usize::from(slm) * SLM_UNIT,
            memory: Memory::new(16 << 30),
            surfaces: Vec::new(),
            image,
            space: [1, 1],
            group: None,
            dependency: Dependency::Free,
        })
    }

    /// Makes machine code of the program when it has run for long enough. It gives the same results.
    pub fn compile(&mut self, compile: &Compile<'_>) {
        self.program.examine_registers(Examined::Never);
        compile.apply(&mut self.program);
    }

    /// The inputs, in order of their numbers.
    #[must_use]
    pub fn inputs(&self) -> &[InputSlot] {
        self.program.inputs()
    }

    /// Whether accesses outside of a buffer are a fault even in its last page; see [`Memory::set_exact`].
    pub const fn set_exact(&mut self, exact: bool) {
        self.memory.set_exact(exact);
    }

    /// Whether invalid accesses are dropped instead of being a fault.
    pub const fn set_lenient(&mut self, lenient: bool) {
        self.memory.set_lenient(lenient);
    }

    /// Shared memory: the surfaces in global memory, in the order in which they were given.
    #[must_use]
    pub fn objects(&self) -> Vec<(Target, MemoryObject)> {
        let objects = self.surfaces.iter().map(|(target, buffer)| {
            let object = MemoryObject {
                address: self.memory.address(*buffer),
                bytes: self.memory.len(*buffer) as u64,
                kind: ObjectKind::Other,
            };
            (*target, object)
        });
        objects.collect()
    }

    /// Shared local memory of a group, in bytes.
    #[must_use]
    pub const fn local_bytes(&self) -> usize {
        self.slm
    }

    /// Scratch memory of a thread, in bytes.
    #[must_use]
    pub const fn scratch_bytes(&self) -> usize {
        SCRATCH
    }

    /// The translated program.
    #[must_use]
    pub const fn program(&self) -> &Program {
        &self.program
    }

    /// Binds a surface.
    ///
    /// # Errors
    /// [`LaunchError::Argument`] for inputs that are no surface, shapes that do not fit the content and more surfaces
    /// than a binding table has.
    pub fn surface(&mut self, target: Target, surface: &MediaSurface) -> Result<(), LaunchError> {
        let place = match target {
            Target::Input(n) => n,
            Target::Entry(n) => n.into(),
        };
        let fault = |message: String| LaunchError::Argument {
            index: place,
            message,
        };
        let buffer = self
            .memory
            .add_buffer(&surface.bytes)
            .map_err(|e| LaunchError::Memory(e.to_string()))?;
        let bound = match surface.shape {
            None => Bound::whole(buffer),
            Some(shape) => {
                let rows = u64::from(shape.pitch) * u64::from(shape.height);
                if shape.width > shape.pitch || rows > surface.bytes.len() as u64 {
                    return Err(fault(format!(
                        "{} rows of {} bytes at a pitch of {} do not fit into {} bytes",
                        shape.height,
                        shape.width,
                        shape.pitch,
                        surface.bytes.len()
                    )));
                }
                let mut image = Image::new_2d(
                    buffer,
                    shape.width,
                    shape.height,
                    shape.pitch,
                    Format::R8_UINT,
                );
                image.chroma = (rows < surface.bytes.len() as u64).then_some(rows);
                Bound::Image2d(image)
            }
        };
        let entry = match target {
            Target::Entry(entry) => entry,
            Target::Input(number) => {
                let input = self.program.inputs().get(number);
                let input = input.filter(|i| i.class == InputClass::Surface);
                let input = input.ok_or_else(|| fault(self.expected(InputClass::Surface)))?;
                // Entries in order of the inputs, as no kernel names entries itself and has inputs as well.
                let entry = u8::try_from(number).ok().filter(|n| *n < 240);
                let entry =
                    entry.ok_or_else(|| fault("more surfaces than a table has".to_owned()))?;
                let at = input.image_offset;
                put(&mut self.image, at, &u32::from(entry).to_le_bytes());
                entry
            }
        };
        self.memory
            .bind(entry, bound)
            .map_err(|e| LaunchError::Memory(e.to_string()))?;
        self.surfaces.push((target, buffer));
        Ok(())
    }

    /// Fills an input with a value, written as numbers of its type separated by commas.
    ///
    /// # Errors
    /// [`LaunchError::Argument`] for inputs that are no variable, and values that are no numbers or too many.
    pub fn input(&mut self, number: usize, text: &str) -> Result<(), LaunchError> {
        let input = self.general(number)?;
        let ty = self
            .program
            .variable(&input.name)
            .map(|slot| slot.data_type);
        let ty = ty.unwrap_or(visakit_isa::DataType::Ud);
        let bytes = crate::value::parse(text, ty);
        let bytes = bytes.map_err(|message| LaunchError::Argument {
            index: number,
            message,
        })?;
        self.input_bytes(number, &bytes)
    }

    /// Fills an input with bytes.
    ///
    /// # Errors
    /// As [`Self::input`].
    pub fn input_bytes(&mut self, number: usize, bytes: &[u8]) -> Result<(), LaunchError> {
        let input = self.general(number)?;
        if bytes.len() > input.size {
            return Err(LaunchError::Argument {
                index: number,
                message: format!("takes {} bytes, not {}", input.size, bytes.len()),
            });
        }
        let at = input.image_offset;
        put(&mut self.image, at, bytes);
        Ok(())
    }

    fn general(&self, number: usize) -> Result<&InputSlot, LaunchError> {
        let input = self.program.inputs().get(number);
        let input = input.filter(|i| i.class == InputClass::General);
        input.ok_or_else(|| LaunchError::Argument {
            index: number,
            message: self.expected(InputClass::General),
        })
    }

    /// The inputs that would match.
    fn expected(&self, class: InputClass) -> String {
        let inputs = self.program.inputs().iter().enumerate();
        let fitting: Vec<_> = inputs
            .filter(|(_, i)| i.class == class)
            .map(|(n, i)| format!("{n} ({})", i.name))
            .collect();
        let what = if class == InputClass::Surface {
            "surfaces"
        } else {
            "values"
        };
        format!(
            "the kernel has no such input; those for {what}: {}",
            fitting.join(", ")
        )
    }

    /// Runs the threads, those that do not wait for each other in parallel.
    ///
    /// # Errors
    /// [`LaunchError::Grid`] for spaces that cannot be, [`LaunchError::Fault`], [`LaunchError::Steps`].
    pub fn run(&self, config: &Config<'_>) -> Result<MediaOutcome, LaunchError> {
        let (outcome, _) = self.run_sampled(config, |_| false, || ())?;
        Ok(outcome)
    }

    /// [`Self::run`]. Groups selected by `watched` report everything to an observer, one for each worker; the observers are
    /// returned with the outcome.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_sampled<O: Observer + Send>(
        &self,
        config: &Config<'_>,
        watched: impl Fn(u64) -> bool + Sync,
        observer: impl Fn() -> O,
    ) -> Result<(MediaOutcome, Vec<O>), LaunchError> {
        let started = Instant::now();
        let effort = Effort::new(config);
        let workers = u64::try_from(rayon::current_num_threads()).unwrap_or(1);
        let observers = Observers::new(workers, observer);
        let (mut done, mut first) = (Done::default(), 0);
        for front in self.fronts()? {
            let groups = (first, front.count());
            let team = |_| Team::new(self, front, first);
            done += effort.all(groups, workers, team, (Some(&watched), &observers))?;
            if done.reason.is_some() {
                break;
            }
            first += front.count();
        }
        Ok((self.outcome(done, started)?, observers.into_all()))
    }

    /// Runs group after group and thread after thread, telling an observer of everything. After a fault that the
    /// observer passes over, the next group runs.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_observed(
        &self,
        config: &Config<'_>,
        observer: &mut impl Observer,
    ) -> Result<MediaOutcome, LaunchError> {
        let outcome = self.run_watched(config, observer)?;
        match outcome.end.stopped() {
            Some(Stopped {
                reason: Reason::Steps(most),
                ..
            }) => Err(LaunchError::Steps(*most)),
            _ => Ok(outcome),
        }
    }

    /// [`Self::run`], but too many steps are no error, but how the run [ended](MediaOutcome::end).
    ///
    /// # Errors
    /// [`LaunchError::Grid`], and [`LaunchError::Fault`] that the observer does not pass over.
    pub fn run_watched(
        &self,
        config: &Config<'_>,
        observer: &mut impl Observer,
    ) -> Result<MediaOutcome, LaunchError> {
        let started = Instant::now();
        let effort = Effort::new(config);
        let (mut done, mut first) = (Done::default(), 0);
        for front in self.fronts()? {
            let groups = (first, front.count());
            done += effort.each(groups, || Team::new(self, front, first), observer)?;
            if matches!(done.reason, Some(Reason::Interrupted | Reason::Steps(_))) {
                break;
            }
            first += front.count();
        }
        self.outcome(done, started)
    }

    /// Size of groups, and how many there are.
    fn groups(&self) -> Result<([u32; 2], [u32; 2]), LaunchError> {
        let [width, height] = self.space;
        if width == 0 || height == 0 || width > MOST_SIDE || height > MOST_SIDE {
            return Err(LaunchError::Grid(format!(
                "{width}x{height} threads; each side may have 1 to {MOST_SIDE}"
            )));
        }
        let size = self.group.unwrap_or([1, 1]);
        let [columns, rows] = size;
        if columns == 0
            || rows == 0
            || columns.saturating_mul(rows) > MOST_THREADS
            || !width.is_multiple_of(columns)
            || !height.is_multiple_of(rows)
        {
            return Err(LaunchError::Grid(format!(
                "groups of {columns}x{rows} threads do not divide a space of {width}x{height}, \
                 or have more than {MOST_THREADS} threads"
            )));
        }
        Ok((size, [width / columns, height / rows]))
    }

    /// Groups that may run at the same time, front after front.
    fn fronts(&self) -> Result<impl Iterator<Item = Front>, LaunchError> {
        let (_, size) = self.groups()?;
        let dependency = self.dependency;
        Ok((0..dependency.fronts(size)).map(move |number| Front {
            dependency,
            number,
            size,
        }))
    }

    /// Threads of a group in each direction.
    #[must_use]
    pub fn group_size(&self) -> [u32; 3] {
        let [columns, rows] = self.group.unwrap_or([1, 1]);
        [columns, rows, 1]
    }

    /// Number of groups of the space.
    ///
    /// # Errors
    /// [`LaunchError::Grid`] for spaces that cannot be.
    pub fn group_count(&self) -> Result<u64, LaunchError> {
        let (_, [width, height]) = self.groups()?;
        Ok(u64::from(width) * u64::from(height))
    }

    /// Place of the group that runs as the one of that number, from 0, when one runs after the other.
    #[must_use]
    pub fn group_at(&self, number: u64) -> Option<[u32; 2]> {
        let mut left = number;
        self.fronts().ok()?.find_map(|front| {
            let count = front.count();
            let found = (left < count).then(|| front.group(left));
            left = left.saturating_sub(count);
            found
        })
    }

    /// A group before its first instruction, by its number.
    ///
    /// # Errors
    /// [`LaunchError::Grid`] for numbers and spaces that cannot be, [`LaunchError::Fault`] for a group that takes more
    /// memory than it may.
    pub fn start(&self, number: u64, limits: &Limits) -> Result<Group, LaunchError> {
        let missing = || LaunchError::Grid(format!("there is no group {number}"));
        let at = self.group_at(number).ok_or_else(missing)?;
        let mut group = Group::default();
        self.reset(at, &mut group, limits)?;
        Ok(group)
    }

    /// Global memory.
    #[must_use]
    pub const fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The surfaces in global memory, in the order in which they were given.
    pub fn buffers(&self) -> impl Iterator<Item = (Target, BufferId)> {
        self.surfaces.iter().copied()
    }

    /// Gets the threads of the group at a place ready.
    fn reset(&self, at: [u32; 2], group: &mut Group, limits: &Limits) -> Result<(), LaunchError> {
        let ([columns, rows], count) = self.groups()?;
        let [x, y] = at;
        let mut starts = Vec::new();
        for local_y in 0..rows {
            for local_x in 0..columns {
                let place = [x * columns + local_x, y * rows + local_y];
                starts.push(self.thread(at, place, [local_x, local_y], [columns, rows], count));
            }
        }
        group
            .reset(&self.program, self.slm, &starts, limits)
            .map_err(|fault| at_group(at, fault))
    }

    fn thread(
        &self,
        group: [u32; 2],
        place: [u32; 2],
        local: [u32; 2],
        size: [u32; 2],
        count: [u32; 2],
    ) -> ThreadStart {
        let three = |[x, y]: [u32; 2], z: u32| [x, y, z];
        let narrow = |n: u32| u16::try_from(n).unwrap_or(u16::MAX);
        let mut image = self.image.clone();
        for input in self.program.inputs() {
            let values = match input.kind.implicit_name() {
                Some("group_count") => three(count, 1),
                Some("local_size") => three(size, 1),
                Some("local_id") => three(local, 0),
                _ => continue,
            };
            let values = values.into_iter().flat_map(u32::to_le_bytes);
            let values: Vec<u8> = values.take(input.size).collect();
            put(&mut image, input.image_offset, &values);
        }
        let [x, y] = place;
        // The thread header, for kernels that read it themselves.
        let [group_x, group_y] = group;
        put(&mut image, 4, &group_x.to_le_bytes());
        put(&mut image, 24, &group_y.to_le_bytes());
        ThreadStart {
            image,
            mask: u32::MAX,
            sr0: [0, 0, u32::MAX, 0],
            thread_x: narrow(x),
            thread_y: narrow(y),
            group_id: three(group, 0),
            group_count: three(count, 1),
            local_id: three(local, 0),
            local_size: three(size, 1),
            scratch_bytes: SCRATCH,
            ..ThreadStart::default()
        }
    }

    fn outcome(&self, mut done: Done, started: Instant) -> Result<MediaOutcome, LaunchError> {
        let [columns, rows, _] = self.group_size();
        let surfaces = self.surfaces.iter();
        Ok(MediaOutcome {
            counters: done.counters,
            groups: done.groups,
            threads: done.groups * u64::from(columns) * u64::from(rows),
            counts: self.program.take_counts(),
            end: done.end(self.group_count()?),
            compiled: self.program.is_compiled(),
            time: started.elapsed(),
            surfaces: surfaces
                .map(|(t, id)| Ok((*t, content(&self.memory, *id)?)))
                .collect::<Result<_, LaunchError>>()?,
        })
    }
}

fn at_group([x, y]: [u32; 2], fault: visakit_exec::Fault) -> LaunchError {
    LaunchError::Fault {
        group: Some([x, y, 0]),
        fault: Box::new(fault),
    }
}

/// Writes as much as fits.
fn put(image: &mut [u8], at: usize, bytes: &[u8]) {
    for (to, from) in image.iter_mut().skip(at).zip(bytes) {
        *to = *from;
    }
}
