/** A TCP relay to a database. A test can break it, like a failing network or database. */
import { mkdtempSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Transform } from 'node:stream'
import { preparedTexts } from './prepared-texts.ts'

const socketName = '.s.PGSQL.5432'

type OnPrepared = (text: string) => void

export class DatabaseRelay {
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'parley-relay-'))
  readonly #target: string
  readonly #onPrepared: OnPrepared | null
  readonly #open = new Set<net.Socket>()
  /** The connections that have sent LISTEN, with both of their sockets. */
  readonly #listening = new Set<readonly net.Socket[]>()
  #isSilent = false
  #delayMs = 0
  #server: net.Server | null = null
  /** DATABASE_URL for connections through the relay. */
  readonly url: string

  private constructor(databaseUrl: string, onPrepared: OnPrepared | null) {
    this.#onPrepared = onPrepared
    const url = new URL(databaseUrl)
    this.#target = path.join(url.searchParams.get('host') ?? '', socketName)
    url.searchParams.set('host', this.#folder)
    this.url = url.href
  }

  /** Calls `onPrepared` with the text of each statement, each time a connection prepares it. */
  static async start(databaseUrl: string, onPrepared: OnPrepared | null = null): Promise<DatabaseRelay> {
    const relay = new DatabaseRelay(databaseUrl, onPrepared)
    await relay.repair()
    return relay
  }

  /** Resets all connections and refuses new ones until `repair`. */
  cut(): void {
    this.#server?.close()
    for (const socket of this.#open) socket.destroy()
  }

  /** From now on no byte passes, and no connection ends, as if the network lost all packets. */
  silence(): void {
    this.#isSilent = true
    for (const socket of this.#open) socket.unpipe().pause()
  }

  /** From now on all bytes take this long in each direction, as over a long distance. */
  delay(delayMs: number): void {
    this.#delayMs = delayMs
  }

  /** The connections that listen for notifications get no byte more, as if a firewall had forgotten them. */
  silenceListening(): void {
    for (const sockets of this.#listening) for (const socket of sockets) socket.unpipe().pause()
  }

  /** New connections work again. Connections from before the silence stay silent. */
  endSilence(): void {
    this.#isSilent = false
  }

  repair(): Promise<void> {
    const server = net.createServer((near) => this.#relay(near))
    this.#server = server
    return new Promise((resolve) => {
      server.listen(path.join(this.#folder, socketName), resolve)
    })
  }

  close(): void {
    this.cut()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #relay(near: net.Socket): void {
    if (this.#isSilent) {
      this.#open.add(near.pause().on('error', () => {}))
      return
    }
    const far = net.connect(this.#target)
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        this.#open.delete(socket)
        other.destroy()
      })
    }
    if (this.#onPrepared !== null) near.on('data', preparedTexts(this.#onPrepared))
    near.on('data', (bytes: Buffer) => {
      if (bytes.includes('listen "')) this.#listening.add([near, far])
    })
    near.pipe(this.#distance()).pipe(far).pipe(this.#distance()).pipe(near)
  }

  #distance(): Transform {
    return new Transform({
      transform: (bytes, _encoding, done) => {
        if (this.#delayMs === 0) done(null, bytes)
        else setTimeout(done, this.#delayMs, null, bytes)
      },
    })
  }
}
