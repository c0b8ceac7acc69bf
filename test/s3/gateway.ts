/** A real S3 server with objects as files, and a relay to it, which a test can cut, stall and count. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { freePort, until } from '../process/machine.ts'

const version = 'v1.8.0'
const cache = process.env['XDG_CACHE_HOME'] ?? path.join(os.homedir(), '.cache')
const program = path.join(cache, 'parley', `versitygw-${version}`, 'versitygw')

/** The reason to skip the tests, or false if they can run. */
export const missing = existsSync(program)
  ? false
  : `there is no versitygw ${version}, which \`make test-all LANE=s3\` installs`

const credentials = { accessKeyId: 'parley-test', secretAccessKey: 'secret-of-the-parley-tests' }
export const bucket = 'recordings'

export type Gateway = {
  relay: Relay
  /** The settings for a Parley server whose recordings go through the relay. */
  env: Record<string, string>
  /** Returns the path of the file with this object. */
  fileOf(key: string): string
  stop(): Promise<void>
}

export async function startGateway(): Promise<Gateway> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-s3-'))
  const port = await freePort()
  const child = spawn(program, ['--port', `127.0.0.1:${port}`, '--quiet', 'posix', folder], {
    env: { ROOT_ACCESS_KEY: credentials.accessKeyId, ROOT_SECRET_KEY: credentials.secretAccessKey },
    stdio: 'ignore',
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const endpoint = `http://127.0.0.1:${port}`
  await until('the gateway to listen', () => isListening(port))
  const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials })
  await client.send(new CreateBucketCommand({ Bucket: bucket }))
  client.destroy()
  const relay = await Relay.start(port)
  return {
    relay,
    env: {
      PARLEY_S3_BUCKET: bucket,
      PARLEY_S3_ENDPOINT: `http://127.0.0.1:${relay.port}`,
      PARLEY_S3_FORCE_PATH_STYLE: 'true',
      PARLEY_S3_PREFIX: 'calls/',
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    },
    fileOf: (key) => path.join(folder, bucket, key),
    async stop() {
      relay.close()
      child.kill()
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}

/** Passes bytes between a server and the gateway. A test can count, stall and cut them. */
export class Relay {
  readonly port: number
  readonly #target: number
  readonly #open = new Set<net.Socket>()
  #server: net.Server | null = null
  /** Bytes from the gateway to the server. */
  downloaded = 0
  /** Bytes from the server to the gateway. */
  uploaded = 0
  /** The server may still send this many bytes; the rest waits. */
  uploadsLeft = Number.POSITIVE_INFINITY

  private constructor(port: number, target: number) {
    this.port = port
    this.#target = target
  }

  static async start(target: number): Promise<Relay> {
    const relay = new Relay(await freePort(), target)
    await relay.repair()
    return relay
  }

  /** Resets all connections and refuses new ones. */
  cut(): void {
    this.#server?.close()
    this.reset()
  }

  reset(): void {
    for (const socket of this.#open) socket.destroy()
  }

  repair(): Promise<void> {
    const server = net.createServer((near) => this.#relay(near))
    this.#server = server
    this.uploadsLeft = Number.POSITIVE_INFINITY
    return new Promise((resolve) => {
      server.listen(this.port, '127.0.0.1', resolve)
    })
  }

  close(): void {
    this.cut()
  }

  #relay(near: net.Socket): void {
    const far = net.connect(this.#target, '127.0.0.1')
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
      socket.on('end', () => other.end())
    }
    near.on('data', (chunk) => {
      this.uploaded += chunk.length
      this.uploadsLeft -= chunk.length
      if (this.uploadsLeft < 0) return void near.pause()
      if (!far.write(chunk)) near.pause()
    })
    far.on('drain', () => near.resume())
    far.on('data', (chunk) => {
      this.downloaded += chunk.length
      if (!near.write(chunk)) far.pause()
    })
    near.on('drain', () => far.resume())
  }
}
