/**
 * Runs in a thread that attacked-server.ts starts. It sends small requests all the time, to the attacked server and to
 * the idle server.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

for (const [name, url] of Object.entries(workerData)) void measure(name, url)

async function measure(name, url) {
  for (;;) {
    const startedMs = performance.now()
    await (await fetch(url)).text()
    parentPort.postMessage({ name, answeredMs: performance.now() - startedMs })
    await sleep(20)
  }
}
