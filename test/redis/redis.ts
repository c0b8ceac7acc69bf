/** Starts a Redis server on 127.0.0.1 without persistence, or Valkey if it is installed. */
import { type ChildProcess, spawn } from 'node:child_process'
import net from 'node:net'
import { findProgram, missingProgram } from '../process/debian-program.ts'
import { freePort, until } from '../process/machine.ts'

export type RedisServer = {
  url: string
  /** Ends the server at once. */
  kill(): Promise<void>
  /** Starts the server again, empty, on the same port. */
  start(): Promise<void>
  /** Suspends the server, so it does not answer any more. */
  pause(): void
  goOn(): void
}

const program = () => findProgram('valkey-server') ?? findProgram('redis-server') ?? 'redis-server'

/** Returns false if a server exists or could be installed, else the reason to skip the test. */
export async function missingRedis(): Promise<string | false> {
  return findProgram('valkey-server') === null && missingProgram('redis-server', 'redis-server')
}

export async function startRedis(test: { teardown(run: () => unknown): void }): Promise<RedisServer> {
  const port = await freePort()
  let child: ChildProcess | null = null
  const kill = async () => {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child?.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }
  const start = async () => {
    const args = [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
      '--daemonize',
      'no',
    ]
    child = spawn(program(), args, { stdio: 'ignore' })
    await until('Redis listens', () => accepts(port))
  }
  test.teardown(kill)
  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    kill,
    start,
    pause: () => void child?.kill('SIGSTOP'),
    goOn: () => void child?.kill('SIGCONT'),
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = net.connect(port, '127.0.0.1')
    probe.once('connect', () => resolve(true)).once('error', () => resolve(false))
    probe.once('connect', () => probe.destroy())
  })
}
