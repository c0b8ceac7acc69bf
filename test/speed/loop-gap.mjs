/**
 * Loaded into a running Parley by NODE_OPTIONS: measures how long its event loop stands still. At LOOP_GAP_PORT it
 * serves the longest gap since the last request.
 *
 * A gap counts only as long as the loop's thread used the CPU, because a busy machine sometimes suspends a thread.
 * Before Node 24 only the time of all threads together is known.
 */
import { createServer } from 'node:http'

const tickMs = 1
const cpuUsage = process.threadCpuUsage?.bind(process) ?? process.cpuUsage.bind(process)

if (process.env.LOOP_GAP_PORT && process.argv[1]?.endsWith('main.js')) {
  const port = Number(process.env.LOOP_GAP_PORT)
  // Child processes of this process must not use the port too.
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
