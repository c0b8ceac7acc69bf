/** The parent's side for a forked speech engine process, for any kind of messages. */
import { type ChildProcess, fork } from 'node:child_process'
import { ProviderError } from '../../../domain/ports/provider-error.ts'
import type { Clock } from '../../../domain/ports/system.ts'

/** The folder with the source of each entry file. */
const folders = {
  'flite-child': 'voices',
  'pico-child': 'voices/pico',
  'hibari-child': 'voices/hibari',
  'stt-child': 'recognition',
  'stt-live-child': 'recognition',
  'whisper-child': 'recognition/whisper',
  'whisper-live-child': 'recognition/whisper',
  'vad-child': 'vad',
} as const
export type EngineEntry = keyof typeof folders

/** True under tsx. A build has this module and the entry files in one folder. */
const runsFromSources = import.meta.url.endsWith('.ts')
const stderrCharsMax = 2000
/** A child inherits only these variables, because it needs no credentials. */
const inherited = ['PATH', 'HOME', 'TMPDIR', 'LD_LIBRARY_PATH']

type EngineHandlers<FromChild> = {
  /** The arguments for the entry file. */
  args?: readonly string[] | undefined
  onMessage: (message: FromChild) => void
  onEnd: (error: ProviderError) => void
}

export class SpeechEngineProcess<ToChild extends object, FromChild> {
  /** Resolves when the process has ended, with the signal's name or the exit code. */
  readonly exited: Promise<string>
  readonly #process: ChildProcess
  #stderr = ''
  #alive = true
  #isKilled = false

  /** `onEnd` is called once, before `exited` resolves. */
  constructor(entry: EngineEntry, { args, onMessage, onEnd }: EngineHandlers<FromChild>) {
    this.#process = start(entry, args)
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
        // A process is killed if it is stuck in one client's work, or if this server closes. So the failure must not
        // count against the model's health.
        ended(how, new ProviderError('server', { sent: true, isByCaller: this.#isKilled, cause }))
      })
    })
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** False once `end` or `kill` was called. */
  get alive(): boolean {
    return this.#alive
  }

  /** Asks the process to exit by closing the message channel. If it is still running after `stopMs`, it is killed. */
  end(clock: Clock, stopMs: number): void {
    this.#alive = false
    if (this.#process.connected) this.#process.disconnect()
    const cancelKill = clock.after(stopMs, () => this.kill())
    void this.exited.then(cancelKill)
  }

  kill(): void {
    this.#alive = false
    this.#isKilled = true
    this.#process.kill('SIGKILL')
  }

  /**
   * Sends a message and copies its bytes before returning. A broken pipe is ignored here, because the event `exit`
   * follows and ends all work.
   */
  send(message: ToChild): void {
    if (this.#process.connected) this.#process.send(message, () => {})
  }
}

function start(entry: EngineEntry, args: readonly string[] = []): ChildProcess {
  const file = runsFromSources ? `../${folders[entry]}/${entry}.ts` : `./${entry}.js`
  return fork(new URL(file, import.meta.url), args, {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: runsFromSources ? ['--import', import.meta.resolve('tsx')] : [],
    env: Object.fromEntries(inherited.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []))),
  })
}
