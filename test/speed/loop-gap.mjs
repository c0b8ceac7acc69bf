/**
 * Loaded into a running Parley by NODE_OPTIONS: measures how long its event loop stands still, and serves the longest gap
 * since the last look at LOOP_GAP_PORT.
 *
 * A gap counts as long as the loop's thread used the CPU in it: on a busy machine a thread is put aside now and then.
 * Before Node 24 only the time of all threads of the process is known.
 */
import { createServer } from 'node:http'

const tickMs = 1
const cpuUsage = process.threadCpuUsage?.bind(process) ?? process.cpuUsage.bind(process)

if (process.env.LOOP_GAP_PORT && process.argv[1]?.endsWith('main.js')) {
  const port = Number(process.env.LOOP_GAP_PORT)
  // Its own child processes must not take the port.
  delete process.env.LOOP_GAP_PORT
  let longestMs = 0
  let [lastMs, lastCpu] = [performance.now(), cpuUsage()]
  setInterval(() => {
    const { user, system } = cpuUsage(lastCpu)
    const gapMs = Math.min(performance.now() - lastMs, (user + system) / 1000) - tickMs
    longestMs = Math.max(longestMs, gapMs)
    lastMs = performance.now()
    lastCpu = cpuUsage()
  }, tickMs).unref()
  createServer((_request, response) => {
    response.end(String(longestMs))
    longestMs = 0
  })
    .listen(port, '127.0.0.1')
    .unref()
}
