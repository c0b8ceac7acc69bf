/** A child process that joins its parent's port, like a worker over node:http, and prints the result. */
import { joinPort } from '../../runtime/listeners/node/shared-port.ts'

/** The child's clock runs this many times as fast as real time. */
const speed = Number(process.argv[2])
const clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now() * speed,
  after(delayMs: number, run: () => void) {
    const timer = setTimeout(run, delayMs / speed)
    return () => clearTimeout(timer)
  },
}

const outcome = await joinPort(clock).then(
  (server) => (server.listening ? 'joined' : 'not listening'),
  (error: Error) => error.message,
)
process.stdout.write(outcome, () => process.exit())
