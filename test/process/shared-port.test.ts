/** A worker over node:http gets the port from its parent, or ends. If it ends, the parent starts it again. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import net from 'node:net'
import path from 'node:path'
import t, { type Test } from 'tap'
import { sharePort } from '../../runtime/listeners/node/shared-port.ts'

const program = path.join(import.meta.dirname, 'joining.ts')

/** Starts a child. With a high `speed` the child does not wait long for a parent that does not answer. */
function startChild(t: Test, speed = 1): ChildProcess {
  const child = fork(program, [String(speed)], {
    execArgv: ['--import=tsx'],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  return child
}

async function outcomeOf({ stdout }: ChildProcess): Promise<string> {
  const chunks = (await stdout?.toArray()) as Buffer[]
  return Buffer.concat(chunks).toString()
}

async function listening(t: Test): Promise<net.Server> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return server
}

t.test('a child process listens on the port that its parent shares', async (t) => {
  const child = startChild(t)
  sharePort(child, await listening(t))
  t.equal(await outcomeOf(child), 'joined')
})

t.test('a child process ends if its parent does not share the port in time', async (t) => {
  t.match(await outcomeOf(startChild(t, 100)), /did not share its port within 10 s/)
})

t.test('a child process ends if its parent has closed the port', async (t) => {
  const child = startChild(t)
  const server = await listening(t)
  server.close()
  sharePort(child, server)
  t.match(await outcomeOf(child), /has closed its port/)
})

t.test('a child process ends if its parent sends a drain message', async (t) => {
  const child = startChild(t)
  child.once('message', () => child.send({ kind: 'drain', lbDelayMs: 0 }))
  t.match(await outcomeOf(child), /ends/)
})

t.test('a child process ends if its parent has ended', async (t) => {
  const child = startChild(t)
  child.once('message', () => child.disconnect())
  t.match(await outcomeOf(child), /has gone/)
})

t.test('a child process that has ended does not end its parent', async (t) => {
  const child = startChild(t)
  const server = await listening(t)
  child.once('message', () => child.disconnect())
  sharePort(child, server)
  await once(child, 'exit')
  t.ok(server.listening)
})
