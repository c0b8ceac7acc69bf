/** Provokes each kind of call event at the simulated carrier at least once. */
import { agentNumber, far, streamFields, type World } from './setup.ts'

export const callEventTypes = [
  'call.answered',
  'call.bridged',
  'call.dtmf.received',
  'call.hangup',
  'call.initiated',
  'call.machine.detection.ended',
  'streaming.failed',
  'streaming.started',
  'streaming.stopped',
]

export async function allCallEvents(world: World): Promise<void> {
  const fields = { answering_machine_detection: 'detect', client_state: 'c3RhdGU=', ...streamFields(world) }
  const id = await world.dial(far('0017'), fields)
  await world.clock.advance(1000)
  const stream = await world.stream()
  await world.clock.advance(3000)
  const tone = Int16Array.from({ length: 8000 }, (_, at) => 12_000 * Math.sin(at / 3))
  stream.sendAudio(tone)
  for (let i = 0; !world.types().includes('call.dtmf.received') && i < 100; i++) await world.clock.advance(100)
  await world.act(id, 'streaming_stop')
  await world.act(id, 'streaming_start', { ...streamFields(world), stream_url: world.streamUrl.replace('media', 'x') })
  await world.event('streaming.failed')
  const incoming = world.simulator.call({ from: far('0006'), to: agentNumber, headers: [{ name: 'X-A', value: 'b' }] })
  await world.act(incoming, 'answer')
  await world.act(incoming, 'bridge', { call_control_id: id })
  await world.act(id, 'hangup')
  await world.event('call.hangup', 2)
}
