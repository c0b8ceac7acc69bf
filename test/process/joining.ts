/** A child that joins the port of its parent, as a worker over node:http does, and prints how that ended. */
import { joinPort } from '../../runtime/listeners/node/shared-port.ts'

/** 100 times as fast. */
const clock = {
  monotonicMs: () => performance.now() * 100,
  after(delayMs: number, run: () => void) {
    const timer = setTimeout(run, delayMs / 100)
    return () => clearTimeout(timer)
  },
}

const outcome = await joinPort(clock).then(
  (server) => (server.listening ? 'joined' : 'not listening'),
  (error: Error) => error.message,
)
process.stdout.write(outcome, () => process.exit())
