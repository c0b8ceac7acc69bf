/** The embedded rule-based LLM answers in the conversation's language. */
import t from 'tap'
import type { LlmItem, LlmRequest } from '../../domain/ports/llm.ts'
import { createScriptedLlm } from '../../providers/local/script/llm.ts'

const llm = createScriptedLlm()

async function ask(prompt: string, said: string, more: Partial<LlmRequest> = {}) {
  const items: LlmItem[] = [
    { type: 'message', role: 'system', text: prompt },
    { type: 'message', role: 'user', text: said },
  ]
  const request = { model: 'scripted', items, maxOutputTokens: 200, tools: [], ...more }
  const { text, calls } = await llm.respond(request, new AbortController().signal)
  return { text, calls: calls.map(({ name, arguments: args }) => [name, JSON.parse(args) as unknown]) }
}

const joined = '[The caller has joined. Greet them and begin the conversation.]'
const sayAgain =
  '[The caller has said something, and no word of it was understood. Ask them in one short sentence to say it again.]'
const notTransferred = (offer: string) =>
  `[The call was not transferred: the line is busy. Tell the caller in one short sentence, and offer to ${offer}.]`
const silent = '[The caller has said nothing for a while. Ask in one short sentence whether they are still there.]'

type Dialogue = {
  language: string
  prompt: string
  turns: readonly (readonly [said: string, answer: string])[]
  farewell: string
  callback: string
  bye: string
}

const dialogues: readonly Dialogue[] = [
  {
    language: 'de',
    prompt:
      'Du bist die Rezeption des Hotels am Hafen.\nBegrüßung: Willkommen im Hotel am Hafen.\nWir haben von sieben bis elf Uhr geöffnet.\nEin Doppelzimmer kostet 120 Euro.\nFrage: Sind Hunde erlaubt?\nAntwort: Hunde sind willkommen.',
    turns: [
      [joined, 'Willkommen im Hotel am Hafen.'],
      ['Wann öffnen Sie?', 'Wir haben von sieben bis elf Uhr geöffnet.'],
      ['Wie viel kostet ein Doppelzimmer?', 'Ein Doppelzimmer kostet 120 Euro.'],
      ['Darf mein Hund mitkommen?', 'Hunde sind willkommen.'],
      ['Was ist 6 mal 7?', '6 mal 7 ist 42.'],
      ['Vielen Dank.', 'Gern geschehen.'],
      ['Stopp.', 'In Ordnung.'],
      ['Sagen Sie: gute Nacht', 'gute Nacht'],
      [silent, 'Sind Sie noch da?'],
      [notTransferred('help'), 'Es tut mir leid, ich konnte Sie nicht verbinden. Wie kann ich Ihnen sonst helfen?'],
      [
        notTransferred('take a message'),
        'Es tut mir leid, ich konnte Sie nicht verbinden. Möchten Sie eine Nachricht hinterlassen?',
      ],
      [sayAgain, 'Entschuldigung, das habe ich nicht verstanden. Können Sie das noch einmal sagen?'],
    ],
    farewell: 'Das war alles, auf Wiederhören.',
    callback: 'Rufen Sie mich bitte in zehn Minuten zurück.',
    bye: 'Auf Wiederhören.',
  },
  {
    language: 'es',
    prompt:
      'Eres la recepción del Hotel del Puerto.\nSaludo: Bienvenido al Hotel del Puerto.\nEl hotel está abierto de siete a once.\nUna habitación doble cuesta 120 euros.\nPregunta: ¿Se admiten perros?\nRespuesta: Los perros son bienvenidos.',
    turns: [
      [joined, 'Bienvenido al Hotel del Puerto.'],
      ['¿Cuándo abren ustedes?', 'El hotel está abierto de siete a once.'],
      ['¿Cuánto cuesta una habitación doble?', 'Una habitación doble cuesta 120 euros.'],
      ['¿Puedo llevar mi perro?', 'Los perros son bienvenidos.'],
      ['¿Cuánto es 6 por 7?', '6 por 7 es 42.'],
      ['Muchas gracias.', 'De nada.'],
      ['Espere.', 'De acuerdo.'],
      ['Diga buenas noches', 'buenas noches'],
      [silent, '¿Sigue usted ahí?'],
      [notTransferred('help'), 'Lo siento, no he podido pasar su llamada. ¿En qué más puedo ayudarle?'],
      [notTransferred('take a message'), 'Lo siento, no he podido pasar su llamada. ¿Quiere dejar un mensaje?'],
      [sayAgain, 'Perdone, no le he entendido. ¿Puede repetirlo?'],
    ],
    farewell: 'Eso es todo, adiós.',
    callback: '¿Puede llamarme más tarde, en diez minutos?',
    bye: 'Adiós.',
  },
  {
    language: 'fr',
    prompt:
      "Vous êtes la réception de l'Hôtel du Port.\nAccueil : Bienvenue à l'Hôtel du Port.\nNous sommes ouverts de sept heures à onze heures.\nUne chambre double coûte 120 euros.\nQuestion : Les chiens sont-ils acceptés ?\nRéponse : Les chiens sont les bienvenus.",
    turns: [
      [joined, "Bienvenue à l'Hôtel du Port."],
      ['Quand êtes-vous ouverts ?', 'Nous sommes ouverts de sept heures à onze heures.'],
      ['Combien coûte une chambre double ?', 'Une chambre double coûte 120 euros.'],
      ['Puis-je venir avec mon chien ?', 'Les chiens sont les bienvenus.'],
      ['Combien font 6 fois 7 ?', '6 fois 7 est 42.'],
      ['Merci beaucoup.', 'Je vous en prie.'],
      ['Attendez.', 'D’accord.'],
      ['Dites bonne nuit', 'bonne nuit'],
      [silent, 'Êtes-vous toujours là ?'],
      [
        notTransferred('help'),
        'Je suis désolé, je n’ai pas pu vous mettre en relation. Puis-je vous aider autrement ?',
      ],
      [
        notTransferred('take a message'),
        'Je suis désolé, je n’ai pas pu vous mettre en relation. Voulez-vous laisser un message ?',
      ],
      [sayAgain, 'Excusez-moi, je n’ai pas compris. Pouvez-vous répéter ?'],
    ],
    farewell: "C'est tout, au revoir.",
    callback: 'Rappelez-moi dans dix minutes.',
    bye: 'Au revoir.',
  },
  {
    language: 'it',
    prompt:
      "Sei la reception dell'Hotel del Porto.\nSaluto: Benvenuto all'Hotel del Porto.\nL'hotel è aperto dalle sette alle undici.\nUna camera doppia costa 120 euro.\nDomanda: I cani sono ammessi?\nRisposta: I cani sono benvenuti.",
    turns: [
      [joined, "Benvenuto all'Hotel del Porto."],
      ['Quando aprite?', "L'hotel è aperto dalle sette alle undici."],
      ['Quanto costa una camera doppia?', 'Una camera doppia costa 120 euro.'],
      ['Posso portare il mio cane?', 'I cani sono benvenuti.'],
      ['Quanto fa 6 per 7?', '6 per 7 è 42.'],
      ['Grazie mille.', 'Prego.'],
      ['Aspetti.', 'Va bene.'],
      ['Dica buona notte', 'buona notte'],
      [silent, 'È ancora lì?'],
      [notTransferred('help'), 'Mi dispiace, non sono riuscito a passarle nessuno. Posso aiutarla in altro modo?'],
      [
        notTransferred('take a message'),
        'Mi dispiace, non sono riuscito a passarle nessuno. Vuole lasciare un messaggio?',
      ],
      [sayAgain, 'Mi scusi, non ho capito. Può ripetere?'],
    ],
    farewell: 'È tutto, arrivederci.',
    callback: 'Può richiamarmi tra dieci minuti?',
    bye: 'Arrivederci.',
  },
]

const tools = [
  { name: 'end_call', parameters: { type: 'object', properties: { message: { type: 'string' } } } },
  { name: 'schedule_callback', parameters: { type: 'object', properties: { delay_minutes: { type: 'integer' } } } },
]

for (const { language, prompt, turns, farewell, callback, bye } of dialogues) {
  t.test(`the embedded LLM answers in ${language}, and its tools are called by words in ${language}`, async (t) => {
    for (const [said, answer] of turns) t.equal((await ask(prompt, said, { language })).text, answer, said)
    for (const [said, answer] of turns.slice(0, 5)) t.equal((await ask(prompt, said)).text, answer, `detected: ${said}`)
    t.same((await ask(prompt, farewell, { language, tools })).calls, [['end_call', { message: bye }]])
    t.same((await ask(prompt, callback, { language, tools })).calls, [['schedule_callback', { delay_minutes: 10 }]])
    const without = (await ask('', 'xyzzy', { language })).text
    t.notMatch(without, /rule-based|language model/)
    t.match(without, /Parley/)
  })
}

t.test('"tell me when you open" is a question, and not a request to repeat the words after it', async (t) => {
  const answerTo = async (language: string, prompt: string, said: string) =>
    t.equal((await ask(prompt, said, { language })).text, prompt, said)
  for (const said of ['Sagen Sie mir, wann Sie öffnen.', 'Sag mir wann ihr öffnet', 'Sagen Sie mal, wann öffnen Sie?'])
    await answerTo('de', 'Wir haben von sieben bis elf Uhr geöffnet.', said)
  await answerTo('fr', 'Nous sommes ouverts de sept à onze.', 'Dites-moi quand vous ouvrez.')
  await answerTo('it', 'Il direttore è il signor Rossi.', 'Chi è il direttore?')
  t.equal((await ask('', 'Sagen Sie mir nach: gute Nacht', { language: 'de' })).text, 'gute Nacht')
  t.match((await ask('', 'Chi è?', { language: 'it' })).text, /^Sono il sostituto/)
})

t.test('in tool arguments "Guten Morgen" is no day, and the time is the number after "um" or "à"', async (t) => {
  const properties = { date: { type: 'string' }, time: { type: 'string' } }
  const table = { name: 'book_table', parameters: { type: 'object', properties } }
  const booked = async (language: string, said: string) =>
    (await ask('', said, { language, tools: [table], toolChoice: { name: 'book_table' } })).calls[0]?.[1]
  t.same(await booked('de', 'Guten Morgen, einen Tisch für 4 am Freitag um 8 Uhr.'), { date: 'am freitag', time: '8' })
  t.same(await booked('de', 'Guten Morgen, einen Tisch für morgen um 8.'), { date: 'morgen', time: '8' })
  t.same(await booked('fr', 'Une table pour 4 demain à 19 heures.'), { date: 'demain', time: '19' })
  t.same(await booked('es', 'A las 9 de la mañana del lunes.'), { date: 'lunes', time: '9' })
})

t.test("a language tag with a region uses the base language's phrases, and an unknown language English", async (t) => {
  t.equal((await ask('Be kind.', silent, { language: 'de-AT' })).text, 'Sind Sie noch da?')
  t.equal((await ask('Be kind.', silent, { language: 'ja' })).text, 'Are you still there?')
})

t.test("a prompt line can be a fact even if it begins with another language's instruction word", async (t) => {
  const prompt = 'Sei la portineria del residence.\nSi parcheggia gratis nel cortile.\nParla sempre con calma.'
  const { text } = await ask(prompt, 'Dove si parcheggia?', { language: 'it' })
  t.equal(text, 'Si parcheggia gratis nel cortile.')
  const english = 'You answer for a shop.\nHier parken Gäste kostenlos im Hof.'
  t.equal((await ask(english, 'Wo parken Gäste?', { language: 'de' })).text, 'Hier parken Gäste kostenlos im Hof.')
  const orders = 'Never mention parking in the yard.'
  t.not((await ask(orders, 'Parking in the yard?', { language: 'de' })).text, orders, 'prompts are often English')
})

t.test('a number in a tool argument is read with the decimal separator of the language', async (t) => {
  const parameters = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] }
  const tools = [{ name: 'book_weight', description: '', parameters }]
  const toolChoice = { name: 'book_weight' }
  const amount = async (said: string, language: string) => (await ask('', said, { language, tools, toolChoice })).calls
  for (const [said, language, expected] of [
    ['Call book weight with 2,5', 'de', 2.5],
    ['Call book weight with 2.5', 'en', 2.5],
    ['Call book weight with 1,500', 'en', 1500],
    ['Call book weight with 1.500', 'de', 1500],
    ['Call book weight with 1.500,25', 'it', 1500.25],
    ['Call book weight with 2.5', 'fr', 2.5],
  ] as const)
    t.same(await amount(said, language), [['book_weight', { amount: expected }]], `${said} in ${language}`)
})
