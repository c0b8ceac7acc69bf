/**
 * Chooses ports for servers that must know their port before they start. The system takes ports for `listen(0)` and
 * outgoing connections from another range (/proc/sys/net/ipv4/ip_local_port_range), and trunk calls use yet other ports
 * for audio. So a chosen port stays free until the start. Each test process reserves a block of ports by holding the
 * block's first port.
 */
import dgram from 'node:dgram'
import net from 'node:net'

const firstPort = 10_000
const blocks = 100
const portsOfBlock = 100

type Block = { next: number; end: number }
let block: Block = { next: 0, end: 0 }
let last: Promise<unknown> = Promise.resolve()

/**
 * Returns the first of `count` neighbouring ports. They are free for TCP and UDP, and this process has not used them
 * before.
 */
export function takePorts(count: number): Promise<number> {
  const taken = last.then(() => take(count))
  last = taken.catch(() => {})
  return taken
}

async function take(count: number): Promise<number> {
  for (;;) {
    if (block.next + count > block.end) block = await claim()
    const first = block.next
    const ports = Array.from({ length: count }, (_, at) => first + at)
    const free = await Promise.all(ports.flatMap((port) => [bindsTcp(port), bindsUdp(port)]))
    block.next = first + (free.every(Boolean) ? count : 1)
    if (free.every(Boolean)) return first
  }
}

/**
 * Reserves a block by listening on its first port. The operating system frees the block with the process, even after a
 * crash.
 */
async function claim(): Promise<Block> {
  for (let tries = 0; tries < blocks; tries++) {
    const lock = firstPort + ((process.pid + tries) % blocks) * portsOfBlock
    const server = await listens(lock)
    if (server === null) continue
    server.unref()
    return { next: lock + 1, end: lock + portsOfBlock }
  }
  throw new Error(`every block of ports from ${firstPort} on is taken`)
}

async function bindsTcp(port: number): Promise<boolean> {
  const server = await listens(port)
  if (server !== null) await new Promise((resolve) => server.close(resolve))
  return server !== null
}

/** Listens on the port. Null if the port is taken. */
function listens(port: number): Promise<net.Server | null> {
  return new Promise((resolve) => {
    const server = net.createServer()
    server.once('error', () => resolve(null))
    server.listen(port, '0.0.0.0', () => resolve(server))
  })
}

function bindsUdp(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = dgram.createSocket('udp4')
    socket.once('error', () => socket.close(() => resolve(false)))
    socket.bind(port, '0.0.0.0', () => socket.close(() => resolve(true)))
  })
}
