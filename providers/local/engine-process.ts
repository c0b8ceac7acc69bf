/** A forked engine as its parent sees it, whatever the two say to each other. */
import { type ChildProcess, fork } from 'node:child_process'
import { ProviderError } from '../../domain/ports/provider-error.ts'

export type EngineEntry = 'stt-child' | 'tts-child' | 'stt-live-child'

/** How the file is named that runs now: the sources under tsx, or the compiled ones. */
const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js'
const stderrCharsMax = 2000
/** Nothing else is handed down: a child has no use for keys. */
const inherited = ['PATH', 'HOME', 'TMPDIR', 'LD_LIBRARY_PATH']

export class EngineProcess<ToChild extends object, FromChild> {
  /** How it ended. */
  readonly exited: Promise<string>
  readonly #process: ChildProcess
  #stderr = ''
  #alive = true

  /** `onEnd` comes once, before `exited` resolves. */
  constructor(
    entry: EngineEntry,
    { onMessage, onEnd }: { onMessage: (message: FromChild) => void; onEnd: (error: ProviderError) => void },
  ) {
    this.#process = start(entry)
    this.#process.on('message', onMessage)
    this.#process.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-stderrCharsMax)
    })
    this.exited = new Promise((resolve) => {
      const ended = (how: string, error: ProviderError) => {
        this.#alive = false
        onEnd(error)
        resolve(how)
      }
      this.#process.once('error', (cause) => {
        ended(cause.message, new ProviderError('unreachable', { sent: false, cause }))
      })
      this.#process.once('exit', (code, signal) => {
        const how = signal ?? `code ${code}`
        const cause = new Error(`speech child ended with ${how}`, { cause: this.#stderr })
        ended(how, new ProviderError('server', { sent: true, cause }))
      })
    })
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** False as soon as it has been told to die. */
  get alive(): boolean {
    return this.#alive
  }

  kill(): void {
    this.#alive = false
    this.#process.kill('SIGKILL')
  }

  /** Bytes are copied before it returns. A pipe that broke is followed by "exit", which ends all work. */
  send(message: ToChild): void {
    if (this.#process.connected) this.#process.send(message, () => {})
  }
}

function start(entry: string): ChildProcess {
  return fork(new URL(`./${entry}${extension}`, import.meta.url), {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: extension === '.ts' ? ['--import', import.meta.resolve('tsx')] : [],
    env: Object.fromEntries(inherited.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []))),
  })
}
