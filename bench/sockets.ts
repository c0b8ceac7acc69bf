/**
 * Sends 640-byte audio frames through the real streaming STT route, over both HTTP engines (`uws` and `node`), with the
 * `loopback` adapter as provider. Compares the route with a bare uWebSockets.js echo and a `ws` echo. Each server is a
 * process with one processor, and the load generator has another processor. Rounds are interleaved.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineName } from '../runtime/engine/options.ts'
import { loadUws } from '../runtime/listeners/uws/load.ts'
import { freshDataDir } from '../test/installation.ts'
import { type Figure, median, type Result } from './figure.ts'
import { forkListener } from './fork.ts'
import { startGateway } from './gateway.ts'
import {
  buildLoad,
  filesMax,
  type LoadFigures,
  type Pace,
  pinned,
  pinServer,
  runLoad,
  type SocketServer,
} from './load.ts'
import { residentMiB } from './process-figures.ts'

const streamsMax = 2000
const framePeriodUs = 20_000
const rounds = 3
/** If the load was late in a round, the round is repeated. This bounds the number of rounds. */
const roundsMax = 6
const warmUpMs = 1000
const measureMs = 3000
/**
 * If a server is busier than this on its processor, it falls behind at times. Late frames are cheaper because they come
 * in bulk, so a slower pace is chosen.
 */
const busyMax = 0.6
const p99MaxUs = 20_000
const probesMax = 5
/**
 * If the load generator sends this late, it lacked a processor. It then sends in bulk, which costs a server less and
 * makes the figure useless, so the round is repeated.
 */
const lagMaxUs = 5000

type Name = 'Parley' | 'Parley on node' | 'uWS' | 'ws'
type Contestant = SocketServer & { name: Name; close(): Promise<unknown>; idleMiB: number; openMiB: number }

export async function socketFigures(dataDir: string): Promise<Result[]> {
  const load = buildLoad()
  if (!load) return [{ name: 'audio frames', skipped: 'no C compiler (cc) for the load generator' }]
  const uws = loadUws()
  if ('problem' in uws) return [{ name: 'audio frames', skipped: uws.problem }]
  const streams = Math.min(streamsMax, filesMax() - 200)
  const servers = await Promise.all([
    echo('uWS', 'bare-echo-uws.ts'),
    echo('ws', 'bare-echo-ws.ts'),
    parley('Parley', 'uws', dataDir),
    parley('Parley on node', 'node', freshDataDir()),
  ])
  try {
    for (const server of servers) await settle(load, server, streams)
    // Memory is measured when all streams are open for the first time. Later the closed streams' garbage counts too.
    const periodUs = await choosePeriod(load, servers, streams)
    const measured = await measureRounds(load, servers, { streams, periodUs, warmUpMs, measureMs })
    const added = Object.fromEntries(servers.map(({ name, idleMiB, openMiB }) => [name, openMiB - idleMiB]))
    const figures = compare(measured, added as Record<Name, number>, streams, periodUs)
    if (isClean(measured)) return [...figures, await capacities(load, servers, measured)]
    const busy = 'the machine is too busy: the load got no processor in time'
    return [...figures.map((figure) => ({ ...figure, bar: null })), { name: 'bars of the sockets', skipped: busy }]
  } finally {
    await Promise.all(servers.map((server) => server.close()))
  }
}

async function echo(name: Name, file: string): Promise<Contestant> {
  const { port, pid, child } = await forkListener(file)
  return { name, pid, port, path: '/', idleMiB: 0, openMiB: 0, close: () => Promise.resolve(child.disconnect()) }
}

const session = { type: 'config', encoding: 'pcm_s16le', sampleRate: 16_000, interimResults: true }

async function parley(name: Name, engine: EngineName, dataDir: string): Promise<Contestant> {
  // All streams come from one IP address here, and the search for the limit opens more streams than the defaults allow.
  const settings = {
    engine,
    providers: [{ id: 'loopback', adapter: 'loopback' }],
    local: { enabled: false },
    limits: { connectionsPerAddressMax: 100_000 },
    realtime: { socketsMax: 100_000 },
  }
  const running = await startGateway(dataDir, settings)
  return {
    name,
    pid: running.pid,
    port: Number(new URL(running.url).port),
    path: '/v1/transcribe/stream',
    session: ['service.realtime.v1', running.key, JSON.stringify(session)],
    idleMiB: 0,
    openMiB: 0,
    close: () => (engine === 'node' ? running.remove() : running.stop()),
  }
}

/**
 * Opens as many streams as will be measured, but at most a tenth at a time, with their traffic. Afterwards the code is
 * compiled and the heap has grown, so memory added later belongs to the open streams.
 */
async function settle(load: string, server: Contestant, streams: number): Promise<void> {
  pinServer(server.pid)
  const few = { streams: Math.round(streams / 10), periodUs: 8000 }
  for (let part = 0; part < 10; part++) await runLoad(load, server, { ...few, warmUpMs: 0, measureMs: 100 })
  await runLoad(load, server, { ...few, warmUpMs: 2000, measureMs: 1000 })
  await sleep(1000)
  server.idleMiB = residentMiB(server.pid)
}

/**
 * Returns real audio's pace if every server keeps up with it on one processor. Otherwise returns half this pace, or a
 * quarter, and so on.
 */
async function choosePeriod(load: string, servers: readonly Contestant[], streams: number): Promise<number> {
  let periodUs = framePeriodUs
  for (const server of servers) {
    const slow = { streams, periodUs: framePeriodUs * 4, warmUpMs: 1000, measureMs: 1500 }
    const { cpuUsAFrame, residentMiB } = await runLoad(load, server, slow)
    server.openMiB = residentMiB
    while ((streams * cpuUsAFrame) / periodUs > busyMax) periodUs *= 2
  }
  return periodUs
}

type Round = Record<Name, LoadFigures>

function isClean(measured: readonly Round[]): boolean {
  return measured.flatMap((round) => Object.values(round)).every(({ lagP99Us }) => lagP99Us <= lagMaxUs)
}

async function measureRounds(load: string, servers: readonly Contestant[], pace: Pace): Promise<Round[]> {
  const all: Round[] = []
  const clean = () => all.filter((round) => isClean([round]))
  while (all.length < roundsMax && clean().length < rounds) {
    const round: Partial<Round> = {}
    for (const server of servers) round[server.name] = await runLoad(load, server, pace)
    all.push(round as Round)
  }
  return clean().length < rounds ? all : clean()
}

function compare(
  measured: readonly Round[],
  addedMiB: Record<Name, number>,
  streams: number,
  periodUs: number,
): Figure[] {
  const of = (name: Name, read: (figures: LoadFigures) => number) => median(measured.map((round) => read(round[name])))
  const cpu = (name: Name) => of(name, ({ cpuUsAFrame }) => cpuUsAFrame)
  // Ratios are computed round by round, so that a drift between rounds affects both servers equally.
  const ratio = (floor: Name, name: Name = 'Parley') =>
    median(measured.map((round) => round[name].cpuUsAFrame / round[floor].cpuUsAFrame))
  const kilobytes = (name: Name) => (addedMiB[name] * 1024) / streams
  const latency = (name: Name) =>
    `${name} ${millis(of(name, ({ p50Us }) => p50Us))}/${millis(of(name, ({ p99Us }) => p99Us))}`
  const all = measured.flatMap((round) => Object.values(round))
  const lost = all.reduce((sum, figures) => sum + figures.lost, 0)
  const lagUs = Math.max(...all.map(({ lagP99Us }) => lagP99Us))
  const pace = `${streams} streams, a frame each ${periodUs / 1000} ms${periodUs > framePeriodUs ? ' (20 ms is more than one processor carries)' : ''}`
  const where = pinned ? 'one processor each' : 'not pinned'
  const costs = `CPU us a frame: Parley ${cpu('Parley').toFixed(1)}, on node ${cpu('Parley on node').toFixed(1)}, uWS ${cpu('uWS').toFixed(1)}, ws ${cpu('ws').toFixed(1)}`
  const answers = `frame to answer p50/p99 ms: ${latency('Parley')}, ${latency('Parley on node')}, ${latency('uWS')}, ${latency('ws')}; ${lost} lost; load late by p99 ${millis(lagUs)} ms at most`
  const memory = `above idle, the first time that all are open and sending: Parley on node ${kilobytes('Parley on node').toFixed(1)}, uWS ${kilobytes('uWS').toFixed(1)}, ws ${kilobytes('ws').toFixed(1)}`
  return [
    {
      name: 'CPU of an audio frame',
      value: ratio('uWS'),
      unit: 'times uWS echo',
      bar: 1.25,
      detail: `${costs}; ${pace}, ${where}, median of ${measured.length} rounds`,
    },
    {
      name: 'CPU of an audio frame',
      value: ratio('ws'),
      unit: 'times ws echo',
      bar: 1,
      detail: answers,
    },
    { name: 'memory of a stream', value: kilobytes('Parley'), unit: 'KiB', bar: 8, detail: memory },
  ]
}

async function capacities(load: string, servers: readonly Contestant[], measured: readonly Round[]): Promise<Result> {
  const byName: Record<Name, Capacity> = { Parley: none, 'Parley on node': none, uWS: none, ws: none }
  for (const server of servers)
    byName[server.name] = await capacity(load, server, median(measured.map((round) => round[server.name].cpuUsAFrame)))
  const streamsOf = ({ streams, isLoadLimited }: Capacity) => `${isLoadLimited ? 'at least ' : ''}${streams}`
  return {
    name: 'streams a core holds',
    value: byName.Parley.streams,
    unit: 'streams',
    bar: null,
    detail: `Parley ${streamsOf(byName.Parley)}, on node ${streamsOf(byName['Parley on node'])}, uWS ${streamsOf(byName.uWS)}, ws ${streamsOf(byName.ws)}; a frame each 20 ms answered within 20 ms at p99, none lost`,
  }
}

type Capacity = { streams: number; isLoadLimited: boolean }
const none: Capacity = { streams: 0, isLoadLimited: false }

/** Searches up or down from the number predicted by a frame's CPU, until the limit is known within a tenth. */
async function capacity(load: string, server: SocketServer, cpuUsAFrame: number): Promise<Capacity> {
  let sustained = 0
  let refused = filesMax() - 200
  let isLoadLimited = false
  let streams = Math.min(refused, (0.7 * framePeriodUs) / cpuUsAFrame)
  for (let probe = 0; probe < probesMax && refused - sustained > sustained / 10; probe++) {
    streams = Math.max(50, Math.round(streams / 50) * 50)
    const pace = { streams, periodUs: framePeriodUs, warmUpMs: 800, measureMs: 2000 }
    const { p99Us, lost, lagP99Us } = await runLoad(load, server, pace)
    if (p99Us <= p99MaxUs && lost === 0) sustained = streams
    else [refused, isLoadLimited] = [streams, lagP99Us > lagMaxUs]
    if (refused === filesMax() - 200) streams = Math.min(refused, sustained * 1.4)
    else streams = sustained === 0 ? refused * 0.6 : (sustained + refused) / 2
  }
  return { streams: sustained, isLoadLimited }
}

const millis = (us: number) => (us / 1000).toFixed(us < 10_000 ? 2 : 0)
