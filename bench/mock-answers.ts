/** The mock provider's answers. Their bytes are made once, so that the mock takes little processor time. */

const content = 'All lines are open. '.repeat(90)
const usage = { prompt_tokens: 400, completion_tokens: 360, total_tokens: 760 }
export const jsonAnswer = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'mock',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage,
})

const event = (value: object) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'mock', ...value })}\n\n`
const chunk = (delta: object, finish: string | null) => event({ choices: [{ index: 0, delta, finish_reason: finish }] })
const tail = `${chunk({}, 'stop') + event({ choices: [], usage })}data: [DONE]\n\n`

/** A stream in two writes: the first token, and all the rest. */
export const streamHead = chunk({ role: 'assistant', content: '' }, null) + chunk({ content: 'All ' }, null)
export const streamRest = chunk({ content: 'lines ' }, null).repeat(20) + tail

/** A stream with one write for each word. */
export const wordsAStream = 200
export const word = chunk({ content: 'lines ' }, null)
export const wordsEnd = tail
