/** The parent's side of one speech child. A child that misbehaves is killed: it holds nothing that must be kept. */
import { type ChildProcess, fork } from 'node:child_process'
import { ProviderError } from '../../domain/routing/provider-error.ts'
import type { FromChild, ToChild } from './messages.ts'

export type ChildJob = {
  input: object
  /** Handed over one at a time, as the child asks. */
  pieces?: Iterator<Uint8Array>
  onProgress?: (doneMs: number) => void
}

type Pending = ChildJob & { resolve: (output: unknown) => void; reject: (error: ProviderError) => void }

/** How the file is named that runs now: the sources under tsx, or the compiled ones. */
const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js'
const stderrCharsMax = 2000
/** Nothing else is handed down: a child has no use for keys. */
const inherited = ['PATH', 'HOME', 'TMPDIR', 'LD_LIBRARY_PATH']

export class SpeechChild {
  /** How it ended. */
  readonly exited: Promise<string>
  readonly #process: ChildProcess
  #pending: Pending | undefined
  #stderr = ''
  #alive = true

  constructor(entry: 'stt-child' | 'tts-child') {
    this.#process = start(entry)
    this.#process.on('message', (message: FromChild) => this.#take(message))
    this.#process.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-stderrCharsMax)
    })
    this.exited = new Promise((resolve) => {
      const ended = (how: string, error: ProviderError) => {
        this.#alive = false
        this.#settle()?.reject(error)
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

  get busy(): boolean {
    return this.#pending !== undefined
  }

  /** One at a time. Rejects with ProviderError `bad_request`, `server` or `unreachable`. */
  run(job: ChildJob): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#pending = { ...job, resolve, reject }
      this.#send({ type: 'start', input: job.input })
    })
  }

  /** Asks the child to give up its job; it answers with a failure soon, or has to be killed. */
  stop(): void {
    this.#send({ type: 'stop' })
  }

  kill(): void {
    this.#alive = false
    this.#process.kill('SIGKILL')
  }

  #take(message: FromChild): void {
    switch (message.type) {
      case 'more':
        return this.#feed()
      case 'progress':
        return this.#pending?.onProgress?.(message.doneMs)
      case 'done':
        return this.#settle()?.resolve(message.output)
      case 'failed': {
        const cause = new Error(message.message)
        return this.#settle()?.reject(new ProviderError(message.errorClass, { sent: true, cause }))
      }
    }
  }

  #feed(): void {
    const piece = this.#pending?.pieces?.next()
    if (piece === undefined || piece.done) this.#send({ type: 'ended' })
    else this.#send({ type: 'piece', bytes: piece.value })
  }

  #settle(): Pending | undefined {
    const pending = this.#pending
    this.#pending = undefined
    return pending
  }

  /** A pipe that broke is followed by "exit", which settles the job. */
  #send(message: ToChild): void {
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
