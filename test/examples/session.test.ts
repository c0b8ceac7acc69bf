/** The media channel accepts and sends the frames that the contract's examples show. */
import t from 'tap'
import { serve, settle } from '../session/media-harness.ts'
import { Examples } from './run.ts'

const examples = new Examples('session.asyncapi.yaml')
const id = '0198c0de-7c1b-7a4e-9b1d-3a5f0c2e4d6c'

t.test("the frames of a session match the contract's examples", async (t) => {
  const { open, sessions } = await serve(t)
  const identity = `user_${id}`
  sessions.seat = { clientOverrides: ['language', 'firstMessage', 'speed'], sampleRate: 24_000, identity }
  const client = await open()
  client.send(examples.frame('Overrides: 0'))
  examples.compareFrame(t, 'Ready: 0', await client.take('ready'))
  const sink = sessions.sink!
  const { transport } = sink
  const mark = (examples.frame('Mark: 0') as { name: string }).name
  transport.mark(mark)
  examples.compareFrame(t, 'Mark: 0', await client.take('mark'))
  client.send(examples.frame('Played: passed'))
  await settle(client)
  transport.clear()
  examples.compareFrame(t, 'Clear: 0', await client.take('clear'))
  client.send(examples.frame('Played: cleared'))
  for (const name of ['ContextualUpdate: 0', 'Dtmf: 0', 'ToolResult: 0', 'UserMessage: 0'])
    client.send(examples.frame(name))
  examples.compareFrame(t, 'UserMessageEcho: 0', await client.take('user_message_echo'))
  t.same(
    sink.calls.map(([name]) => name),
    ['played', 'cleared', 'contextualUpdate', 'dtmf', 'toolResult', 'userMessage'],
  )
  client.send(examples.frame('Ping: 0'))
  examples.compareFrame(t, 'Pong: 0', await client.take('pong'))

  transport.notify({ type: 'state', state: 'listening' })
  examples.compareFrame(t, 'State: 0', await client.take('state'))
  transport.notify({ type: 'transcript', id, text: 'When do you open?', isFinal: true })
  examples.compareFrame(t, 'Transcript: 0', await client.take('transcript'))
  transport.notify({ type: 'agentMessage', id, text: 'We open at nine.', isFinal: true, interrupted: false })
  examples.compareFrame(t, 'AgentMessage: whole', await client.take('agent_message'))
  transport.notify({ type: 'agentMessage', id, text: 'We open', isFinal: true, interrupted: true })
  examples.compareFrame(t, 'AgentMessage: interrupted', await client.take('agent_message'))
  transport.notify({ type: 'toolCall', id: 'call_1', name: 'order_status', status: 'completed' })
  examples.compareFrame(t, 'ToolCall: status', await client.take('tool_call'))
  transport.notify({ type: 'toolRequested', id: 'call_2', name: 'show_map', args: '{"city": "Berlin"}' })
  examples.compareFrame(t, 'ToolCall: requested', await client.take('tool_call'))
  client.send({ type: 'user_message', text: 'x'.repeat(4097) })
  examples.compareFrame(t, 'Error: the session goes on', await client.take('error'))

  const second = await open()
  const replaced = await client.take('error')
  examples.compareFrame(t, 'Error: the socket closes', replaced)
  await second.take('ready')
  second.send(examples.frame('HangUp: 0'))
  examples.compareFrame(t, 'End: 0', await second.take('end'))
  t.equal(await second.closed, 1000)
})

t.test('each example of the media channel is compared with a frame', (t) => {
  examples.complete(t, {})
  t.end()
})
