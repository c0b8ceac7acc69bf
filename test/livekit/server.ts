/**
 * Starts a real LiveKit server, only on loopback. `make test-all LANE=livekit` installs it and names it in
 * PARLEY_TEST_LIVEKIT.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../process/machine.ts'

export const binary = process.env['PARLEY_TEST_LIVEKIT'] ?? null
export const skipped = binary === null && 'no LiveKit server is installed: make test-all LANE=livekit'

export const apiKey = 'devkey'
export const apiSecret = 'a-secret-of-thirty-two-characters'

export type LiveKitServer = {
  url: string
  /** The settings for a Parley that uses this LiveKit server. */
  env: Record<string, string>
  stop(): Promise<void>
}

export async function startLiveKit(): Promise<LiveKitServer> {
  if (binary === null) throw new Error('PARLEY_TEST_LIVEKIT names no server')
  const folder = await mkdtemp(path.join(tmpdir(), 'parley-livekit-'))
  const [port, udpPort, tcpPort] = [await freePort(), await freePort(), await freePort()]
  const file = path.join(folder, 'livekit.yaml')
  writeFileSync(
    file,
    JSON.stringify({
      port,
      bind_addresses: ['127.0.0.1'],
      rtc: {
        udp_port: udpPort,
        tcp_port: tcpPort,
        node_ip: '127.0.0.1',
        enable_loopback_candidate: true,
        use_external_ip: false,
        stun_servers: [],
        interfaces: { includes: ['lo'] },
      },
      keys: { [apiKey]: apiSecret },
      logging: { level: 'error' },
    }),
  )
  const server = spawn(binary, ['--config', file], { stdio: 'ignore' })
  const url = `ws://127.0.0.1:${port}`
  for (let tries = 0; !(await answers(port)); tries++) {
    if (tries > 100 || server.exitCode !== null) throw new Error('the LiveKit server has not started')
    await sleep(100)
  }
  return {
    url,
    env: { PARLEY_LIVEKIT_URL: url, PARLEY_LIVEKIT_API_KEY: apiKey, PARLEY_LIVEKIT_API_SECRET: apiSecret },
    async stop() {
      const ended = once(server, 'exit')
      server.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function answers(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/`)).ok
  } catch {
    return false
  }
}
