/**
 * The embedded rule-based LLM acts as the agent of a demonstration: it answers from its prompt and calls tools with
 * arguments.
 */
import t from 'tap'
import { History } from '../../domain/conversation/turns/history.ts'
import type { LlmItem, LlmRequest } from '../../domain/ports/llm.ts'
import { createScriptedLlm } from '../../providers/local/script/llm.ts'

const llm = createScriptedLlm()
const signal = new AbortController().signal
const prompt = `You are the receptionist of the Harbour Hotel. Be brief and friendly.
Greeting: Welcome to the Harbour Hotel. How can I help?

We are open every day from seven in the morning to eleven at night. Breakfast is served until ten.
A double room costs 120 euros a night. Never promise a discount.
The hotel is at 12 Quay Street, next to the ferry.

Q: Do you allow dogs?
A: Dogs are welcome. They cost ten euros a night.
Question: Hello
Answer: Hello there, Harbour Hotel.
When asked about parking, say "Parking is free for guests."
If the caller asks about wifi, tell them that the password is at the desk.`

async function ask(text: string | null, more: Partial<LlmRequest> = {}) {
  const user: LlmItem[] = text === null ? [] : [{ type: 'message', role: 'user', text }]
  const items: LlmItem[] = [{ type: 'message', role: 'system', text: prompt }, ...user]
  const answer = await llm.respond({ model: 'scripted', items, maxOutputTokens: 200, tools: [], ...more }, signal)
  return {
    text: answer.text,
    calls: answer.calls.map(({ name, arguments: args }) => [name, JSON.parse(args) as unknown]),
  }
}

t.test('the embedded LLM answers questions from the lines of the prompt', async (t) => {
  const answers: [question: string, answer: string][] = [
    ['When are you open?', 'We are open every day from seven in the morning to eleven at night.'],
    ['What are your opening hours?', 'We are open every day from seven in the morning to eleven at night.'],
    ['Until when do you serve breakfast?', 'Breakfast is served until ten.'],
    ['How much is a double room?', 'A double room costs 120 euros a night.'],
    ['Where are you located?', 'The hotel is at 12 Quay Street, next to the ferry.'],
    ['Can I bring my dog?', 'Dogs are welcome. They cost ten euros a night.'],
    ['Do you have parking?', 'Parking is free for guests.'],
    ['Is there wifi?', 'the password is at the desk.'],
    ['hello', 'Hello there, Harbour Hotel.'],
    ['What is 6 times 7?', '6 times 7 is 42.'],
    ['Please say good night', 'good night'],
    ['Hi, when are you open?', 'We are open every day from seven in the morning to eleven at night.'],
    ['Thanks a lot.', 'You are welcome.'],
    ['Stop.', 'All right.'],
  ]
  for (const [question, expected] of answers) t.equal((await ask(question)).text, expected, question)
})

t.test('an agent that speaks first says its greeting', async (t) => {
  t.equal((await ask(null)).text, 'Welcome to the Harbour Hotel. How can I help?')
  const hint = '[The caller has joined. Greet them and begin the conversation.]'
  t.equal((await ask(hint)).text, 'Welcome to the Harbour Hotel. How can I help?')
  const items: LlmItem[] = [{ type: 'message', role: 'system', text: 'You are kind.' }]
  t.match((await ask(null, { items })).text, /^Hello! .*not a language model/)
})

t.test('all system messages at the start of a request are the prompt', async (t) => {
  const item = (role: 'system' | 'user' | 'assistant', text: string): LlmItem => ({ type: 'message', role, text })
  const start = [item('system', 'You are helpful.'), item('system', prompt)]
  const turns = [item('user', 'Hi.'), item('assistant', 'Hello.'), item('system', 'Q: Is there a lift?\nA: Yes, two.')]
  for (const [said, expected] of [
    ['Until when do you serve breakfast?', 'Breakfast is served until ten.'],
    ['[The caller has joined. Greet them.]', 'Welcome to the Harbour Hotel. How can I help?'],
  ] as const)
    for (const items of [start, [...start, ...turns]])
      t.equal((await ask(null, { items: [...items, item('user', said)] })).text, expected)
  const lift = await ask(null, { items: [...start, ...turns, item('user', 'Is there a lift?')] })
  t.not(lift.text, 'Yes, two.', 'a later system message is not the prompt')
})

t.test('the embedded LLM never says the words of a note, wherever the note is in the conversation', async (t) => {
  const conversation = (start: string, said: string, atBegin: readonly string[], atEnd: readonly string[]) => {
    const history = new History(start)
    for (const note of atBegin) history.note(note)
    history.user('Hi.')
    history.agent([{ type: 'message', role: 'assistant', text: 'Hello.' }])
    for (const note of atEnd) history.note(note)
    history.user(said)
    return ask(null, { items: history.items() })
  }
  const notes = [
    'The caller is on hold while the call is transferred.',
    'The call was not transferred: the line is busy. Take a message. Ask for the number.',
    'Maria has joined.',
    'The user looks at page 3.',
    'Q: Where is my parcel?\nA: It is lost.',
    'Greeting: Good evening.',
  ]
  const asked = [
    'Is the caller on hold?',
    'Was the call transferred?',
    'Has Maria joined?',
    'Which page do I look at?',
    'Where is my parcel?',
    'hello',
    '[The call was not transferred: the line is busy. Tell the caller in one short sentence, and offer to help.]',
    '[The caller has joined. Greet them and begin the conversation.]',
    '[The caller has said nothing for a while. Ask in one short sentence whether they are still there.]',
  ]
  for (const said of asked)
    for (const start of [prompt, '']) {
      const without = await conversation(start, said, [], [])
      const atEnd = await conversation(start, said, [], notes)
      const atBegin = await conversation(start, said, notes, [])
      for (const { text } of [atEnd, atBegin]) t.equal(text, without.text, said)
    }
})

t.test(
  'the scripted LLM answers an instruction in brackets with its own sentence, not with words of the prompt',
  async (t) => {
    const items: LlmItem[] = [
      {
        type: 'message',
        role: 'system',
        text: 'The caller has said something about a line. The call is transferred to sales.',
      },
      { type: 'message', role: 'user', text: 'Hi.' },
      { type: 'message', role: 'assistant', text: 'Hello.' },
    ]
    for (const [hint, expected] of [
      [
        '[The caller has said something, and no word of it was understood. Ask them in one short sentence to say it again.]',
        /^I am sorry, I did not understand you/,
      ],
      [
        '[The call was not transferred: the line is busy. Tell the caller in one short sentence, and offer to help.]',
        /^I am sorry, I could not connect you/,
      ],
    ] as const)
      t.match((await ask(null, { items: [...items, { type: 'message', role: 'user', text: hint }] })).text, expected)
  },
)

t.test('a tool argument gets the allowed value whose words the user says, singular or plural', async (t) => {
  const parameters = (values: string[]) => ({ type: 'object', properties: { label: { enum: values } } })
  const choose = async (said: string, ...values: string[]) => {
    const tool = { name: 'transfer_call', description: 'Transfers questions about opening hours.' }
    return (await ask(said, { tools: [{ ...tool, parameters: parameters(values) }] })).calls
  }
  const chosen = (label: string) => [['transfer_call', { label }]]
  for (const said of ['a question about your opening hours', 'a question about your opening hour'])
    t.same(await choose(said, 'Sales', 'Opening hours'), chosen('Opening hours'), said)
  t.same(await choose('a question: are you open?', 'Closed', 'Open'), chosen('Open'), 'words of one subject differ')
  const both = await choose('a question about opening hours', 'Opening hour', 'Opening hours')
  t.same(both, chosen('Opening hours'), 'the exact words go first')
})

t.test('the embedded LLM repeats its last answer on request, and asks if a silent caller is there', async (t) => {
  const items: LlmItem[] = [
    { type: 'message', role: 'system', text: prompt },
    { type: 'message', role: 'user', text: 'When is breakfast?' },
    { type: 'message', role: 'assistant', text: 'Until ten.' },
  ]
  for (const text of ['What did you say?', 'Sorry, can you say that again?', 'pardon'])
    t.equal((await ask(null, { items: [...items, { type: 'message', role: 'user', text }] })).text, 'Until ten.', text)
  const silent: LlmItem = { type: 'message', role: 'user', text: '[The caller has said nothing for a while. Ask.]' }
  t.equal((await ask(null, { items: [...items, silent] })).text, 'Are you still there?')
})

t.test('the embedded LLM does not answer with instructions, and admits if it has no answer', async (t) => {
  for (const question of ['Do you give a discount?', 'What is the capital of Peru?', 'Are you friendly and brief?'])
    t.match((await ask(question)).text, /not a language model, and my prompt has no answer/, question)
  t.match((await ask('Are you a bot?')).text, /not a language model/)
})

const text = { type: 'string' }
const tools = [
  {
    name: 'get_weather',
    description: 'Tells the weather of a city.',
    parameters: {
      type: 'object',
      properties: { city: text, day: text, unit: { enum: ['celsius', 'fahrenheit'] } },
      required: ['city'],
    },
  },
  {
    name: 'lookup_order',
    description: 'Finds the state of an order by its number.',
    parameters: { type: 'object', properties: { orderNumber: text }, required: ['orderNumber'] },
  },
  {
    name: 'book_table',
    description: 'Books a table in the restaurant.',
    parameters: {
      type: 'object',
      properties: { guests: { type: 'integer', minimum: 1 }, date: text, time: text, name: text },
      required: ['guests'],
    },
  },
  {
    name: 'take_message',
    description: 'Writes down a message and an email address for the staff.',
    parameters: { type: 'object', properties: { message: text, email: text }, required: ['message'] },
  },
  {
    name: 'end_call',
    description: 'Ends the call.',
    parameters: { type: 'object', properties: { reason: text, message: text } },
  },
]

t.test("a tool is called if the user speaks about its subject, and its arguments are the user's words", async (t) => {
  const asked: [said: string, name: string, args: object][] = [
    [
      'What is the weather in Paris tomorrow in celsius?',
      'get_weather',
      { city: 'Paris', day: 'tomorrow', unit: 'celsius' },
    ],
    ['get weather for New York', 'get_weather', { city: 'New York' }],
    ['Where is my order 4 7 1 1?', 'lookup_order', { orderNumber: '4711' }],
    ['My order number is AB-1234.', 'lookup_order', { orderNumber: 'AB1234' }],
    [
      'I want to book a table for four people on Friday at seven, my name is Ada Lovelace',
      'book_table',
      { guests: 4, date: 'on friday', time: 'seven', name: 'Ada Lovelace' },
    ],
    [
      'Take a message: call ada@example.com',
      'take_message',
      { message: 'Take a message: call ada@example.com', email: 'ada@example.com' },
    ],
    ['Thank you, goodbye!', 'end_call', { message: 'Goodbye.' }],
    ["No, that's all.", 'end_call', { message: 'Goodbye.' }],
    ['Please hang up', 'end_call', { message: 'Goodbye.' }],
  ]
  for (const [said, name, args] of asked) t.same((await ask(said, { tools })).calls, [[name, args]], said)
})

t.test('if the user speaks about other things, no tool is called', async (t) => {
  for (const said of [
    'When are you open?',
    'In the end I will call my mother',
    'A table is a piece of furniture',
    'ok',
    '',
  ])
    t.same((await ask(said, { tools })).calls, [], said)
})

t.test('the result of a tool is spoken to the user', async (t) => {
  const after = (result: string) => {
    const items: LlmItem[] = [
      { type: 'message', role: 'user', text: 'Where is my order 4711?' },
      { type: 'function_call', callId: 'call_1', name: 'lookup_order', arguments: '{}' },
      { type: 'function_result', callId: 'call_1', result },
    ]
    return ask(null, { items, tools })
  }
  t.equal(
    (await after('{"state": "sent", "total_price": 12.5}')).text,
    'The tool answered: state is sent, total price is 12.5.',
  )
  t.equal((await after('It is on its way.')).text, 'The tool answered: It is on its way.')
  for (const [result, said] of [
    ['{"note": "It is on its way."}', 'The tool answered: note is It is on its way.'],
    ['{}', 'The tool answered: done.'],
    [
      '{"order": {"state": "sent", "lines": ["lamp", "desk"]}}',
      'The tool answered: order has state is sent, lines is lamp and desk.',
    ],
    ['{"found": null, "rows": [{"id": 1}]}', 'The tool answered: found is empty, rows has 1 entry.'],
    ['{"error": "no such order"}', 'The tool answered: error is no such order.'],
    ['{"error":{"code":"http_error","status":500}}', 'The tool failed: http error.'],
    [
      '{"error":{"code":"invalid_arguments","detail":"/number is missing, /days must be integer"}}',
      'The tool failed: invalid arguments, number is missing, days must be integer.',
    ],
  ] as const)
    t.equal((await after(result)).text, said)
})

t.test('long prompts and utterances take little time', async (t) => {
  const startedUs = process.cpuUsage().user
  const units = ['When asked about ', 'Q: a\n', 'a b. ', '1 2 ', 'A ', 'in A', 'a@', ', ', '"', 'if they ask ', '-']
  for (const unit of units) {
    const long = unit.repeat(200_000 / unit.length)
    await ask(long, {
      items: [
        { type: 'message', role: 'system', text: long },
        { type: 'message', role: 'user', text: long },
      ],
      tools,
    })
  }
  const spentMs = (process.cpuUsage().user - startedUs) / 1000
  t.comment(`${units.length} prompts of 200,000 letters: ${spentMs.toFixed(0)} ms`)
  t.ok(spentMs < 3000)
})
