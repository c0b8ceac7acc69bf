/** A webhook receiver that can be killed and started again on the same port. It keeps all received requests. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'

export type ReceivedWebhook = {
  id: string
  headers: Record<string, string>
  body: Buffer
  event: { type: string; call_id: string; version?: number; recording_url?: string | null }
}

const program = path.join(import.meta.dirname, 'killable-receiver.mjs')

export class KillableReceiver {
  readonly #folder = mkdtempSync(path.join(os.tmpdir(), 'parley-receiver-'))
  readonly #file = path.join(this.#folder, 'received.ndjson')
  #child: ChildProcess | null = null
  #port = 0

  static async start(): Promise<KillableReceiver> {
    const receiver = new KillableReceiver()
    writeFileSync(receiver.#file, '')
    await receiver.comeBack()
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hook`
  }

  all(): ReceivedWebhook[] {
    const lines = readFileSync(this.#file, 'utf8').split('\n')
    return lines
      .filter((line) => line !== '')
      .map((line) => {
        const { headers, body } = JSON.parse(line) as { headers: Record<string, string>; body: string }
        const bytes = Buffer.from(body, 'base64')
        const event = JSON.parse(bytes.toString('utf8')) as ReceivedWebhook['event']
        return { id: headers['webhook-id'] ?? '', headers, body: bytes, event }
      })
  }

  of(type: string): ReceivedWebhook[] {
    return this.all().filter(({ event }) => event.type === type)
  }

  async kill(): Promise<void> {
    if (this.#child === null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    this.#child = null
    await ended
  }

  async comeBack(): Promise<void> {
    const stdio = ['pipe', 'pipe', 'inherit'] as const
    this.#child = spawn(process.execPath, [program, String(this.#port), this.#file], { stdio: [...stdio] })
    const [port] = (await once(this.#child.stdout as NodeJS.EventEmitter, 'data')) as [Buffer]
    this.#port = Number(port.toString())
  }

  async remove(): Promise<void> {
    await this.kill()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
