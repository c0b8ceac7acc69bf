/**
 * Implements a part of WASI preview 1, enough for a program with no input and one output file. The file is kept in
 * memory. Node's WASI is experimental and would need a folder on disk for each run, and a killed process would leave
 * the folder behind.
 */

export type WasiRun = { exitCode: number; output: Uint8Array }

/** The running program's memory. The heap begins with the program's arguments. */
export type ProgramMemory = { view: DataView; heapStart: number }

type Imports = Record<string, (...args: never[]) => unknown>

const ok = 0
const badDescriptor = 8
const invalid = 28
const filetypeDirectory = 3
const filetypeRegular = 4
const rootDescriptor = 3
const outputDescriptor = 4
const root = '/'
const allRights = 0xffff_ffff_ffff_ffffn
const encoder = new TextEncoder()

/**
 * Runs the program's `main`. `args[0]` is the program's name. Any path below "/" opens the output file; the callback
 * `opened` may then read the program's memory. A WebAssembly trap is thrown as an error.
 */
export async function runWasi(
  module: WebAssembly.Module,
  args: readonly string[],
  outputBytesMax: number,
  opened: (memory: ProgramMemory) => void,
): Promise<WasiRun> {
  const file = new MemoryFile(outputBytesMax)
  const program: { memory?: WebAssembly.Memory; heapStart: number } = { heapStart: 0 }
  const view = () => new DataView(program.memory!.buffer)
  const begun = (heapStart: number) => {
    program.heapStart = heapStart
  }
  const wasOpened = () => opened({ view: view(), heapStart: program.heapStart })
  const imports: Imports = {
    ...argumentImports(view, args, begun),
    ...fileImports(view, file, wasOpened),
    ...processImports(view),
  }
  const { exports } = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: imports })
  program.memory = exports['memory'] as WebAssembly.Memory
  try {
    ;(exports['_start'] as () => void)()
  } catch (error) {
    if (!(error instanceof Exit)) throw error
    return { exitCode: error.code, output: file.bytes() }
  }
  return { exitCode: 0, output: file.bytes() }
}

/** proc_exit must not return to the program, so it throws this exception. */
class Exit extends Error {
  readonly code: number

  constructor(code: number) {
    super(`exit ${code}`)
    this.code = code
  }
}

class MemoryFile {
  position = 0
  #length = 0
  #bytes = new Uint8Array(1 << 16)
  readonly #bytesMax: number

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get length(): number {
    return this.#length
  }

  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  write(data: Uint8Array): void {
    const end = this.position + data.length
    if (end > this.#bytesMax) throw new Error(`program wrote more than ${this.#bytesMax} bytes`)
    if (end > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(end, this.#bytes.length * 2))
      larger.set(this.bytes())
      this.#bytes = larger
    }
    this.#bytes.set(data, this.position)
    this.position = end
    this.#length = Math.max(this.#length, end)
  }
}

function argumentImports(view: () => DataView, args: readonly string[], begun: (heapStart: number) => void): Imports {
  const texts = args.map((arg) => encoder.encode(`${arg}\0`))
  return {
    args_sizes_get: (count: number, size: number) => {
      view().setUint32(count, texts.length, true)
      view().setUint32(
        size,
        texts.reduce((sum, text) => sum + text.length, 0),
        true,
      )
      return ok
    },
    args_get: (pointers: number, buffer: number) => {
      begun(Math.min(pointers, buffer))
      let at = buffer
      texts.forEach((text, i) => {
        view().setUint32(pointers + 4 * i, at, true)
        new Uint8Array(view().buffer, at, text.length).set(text)
        at += text.length
      })
      return ok
    },
  }
}

function fileImports(view: () => DataView, file: MemoryFile, opened: () => void): Imports {
  return {
    fd_prestat_get: (fd: number, result: number) => {
      if (fd !== rootDescriptor) return badDescriptor
      view().setUint32(result, 0, true)
      view().setUint32(result + 4, root.length, true)
      return ok
    },
    fd_prestat_dir_name: (_fd: number, name: number, length: number) => {
      new Uint8Array(view().buffer, name, length).set(encoder.encode(root).subarray(0, length))
      return ok
    },
    fd_fdstat_get: (fd: number, result: number) => {
      view().setBigUint64(result, BigInt(fd === rootDescriptor ? filetypeDirectory : filetypeRegular), true)
      view().setBigUint64(result + 8, allRights, true)
      view().setBigUint64(result + 16, allRights, true)
      return ok
    },
    fd_fdstat_set_flags: () => ok,
    path_open: (...args: never[]) => {
      view().setUint32(args[8]!, outputDescriptor, true)
      opened()
      return ok
    },
    fd_close: () => ok,
    fd_read: (_fd: number, _vectors: number, _count: number, read: number) => {
      view().setUint32(read, 0, true)
      return ok
    },
    fd_seek: (fd: number, offset: bigint, whence: number, result: number) => {
      if (fd !== outputDescriptor || whence > 2) return invalid
      file.position = Number(offset) + [0, file.position, file.length][whence]!
      view().setBigUint64(result, BigInt(file.position), true)
      return ok
    },
    fd_write: (fd: number, vectors: number, count: number, written: number) => {
      let total = 0
      for (let i = 0; i < count; i++) {
        const start = view().getUint32(vectors + 8 * i, true)
        const length = view().getUint32(vectors + 8 * i + 4, true)
        // Output to any other file descriptor is ignored.
        if (fd === outputDescriptor) file.write(new Uint8Array(view().buffer, start, length))
        total += length
      }
      view().setUint32(written, total, true)
      return ok
    },
  }
}

function processImports(view: () => DataView): Imports {
  return {
    clock_time_get: (_id: number, _precision: bigint, result: number) => {
      view().setBigUint64(result, process.hrtime.bigint(), true)
      return ok
    },
    proc_exit: (code: number) => {
      throw new Exit(code)
    },
  }
}
