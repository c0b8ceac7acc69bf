/**
 * Busy people answer with phrases that a mailbox also uses. The agent must not hang up on them, and must still detect
 * mailboxes.
 */
import t from 'tap'
import { verdict } from './verdict.ts'

const people: [text: string, language?: string][] = [
  ["I can't take your call right now, I am driving."],
  ["Sorry, I can't come to the phone right now."],
  ["Hi, I can't talk, I'm in a meeting, can you call me back?"],
  ["I'm unable to take your call at the moment, can you try my office in about one hour please?"],
  ["She can't come to the phone, who's calling?"],
  ['I just got your voicemail, what is this about?'],
  ["I'm at work, what do you need?"],
  ["I am not available, I'm in a meeting, please call me later today."],
  ['Hang on, one second please.'],
  ['Ich kann gerade nicht ans Telefon gehen, ich fahre gerade.', 'de'],
  ['Ahora no puedo atender, estoy conduciendo.', 'es'],
  ['Je ne peux pas vous répondre, je suis au volant.', 'fr'],
  ['Non posso rispondere, sto guidando.', 'it'],
  ['Não posso atender agora, estou dirigindo.', 'pt'],
  ['Ik kan nu niet opnemen, ik zit in de auto.', 'nl'],
  ["I'm on another call, try me in ten minutes."],
  ["Hey, I'm with a customer right now, can it wait a bit?"],
  ['Hi, did you leave a message on my voicemail this morning?'],
  ['You left me a voicemail yesterday about my order, right?'],
  ['She is not available, would you like to leave a message with me?'],
  ['Sie haben mir gestern auf die Mailbox gesprochen, oder?', 'de'],
  ["Ich bin gerade im Meeting, worum geht's denn?", 'de'],
  ['¿Me dejó un mensaje en el buzón esta mañana?', 'es'],
  ['Vous m’avez laissé un message sur mon répondeur ce matin ?', 'fr'],
  ['Mi ha lasciato un messaggio in segreteria telefonica?', 'it'],
  ['Você deixou uma mensagem na minha caixa postal?', 'pt'],
  ['Heeft u een bericht achtergelaten op mijn voicemail?', 'nl'],
]

const machines: [text: string, language?: string][] = [
  ["Hi, this is Sam. I can't come to the phone right now, please leave a message after the beep."],
  ["You've reached Sam. I can't take your call, so leave your name and number."],
  ['You have reached the Smiths, we cannot take your call right now and are sorry for that.'],
  ['The person you are calling is not available to take your call.'],
  ['Please record your message after the tone.'],
  ["Hi, you've reached Sam. I'm in a meeting right now, please leave a message after the tone."],
  ['This is Sam, I am at work or driving, please leave your name and I will get back to you.'],
  ["Hey, it's Sam. I'm busy right now. Call me back, or leave a message."],
  ['Hallo, ich bin in einer Besprechung, bitte hinterlassen Sie eine Nachricht.', 'de'],
  ['Hola, estoy trabajando, deje su mensaje.', 'es'],
  ['Bonjour, je suis en réunion, laissez un message.', 'fr'],
  ['Ciao, sono in riunione, lasciate un messaggio.', 'it'],
  ['Olá, estou em reunião, deixe uma mensagem.', 'pt'],
  ['Hallo, ik zit in een vergadering, laat een bericht achter.', 'nl'],
  ['Ich kann gerade nicht ans Telefon, hinterlassen Sie eine Nachricht nach dem Ton.', 'de'],
  ['No puedo atender, deje su mensaje después de la señal.', 'es'],
  ["Hi, it's Sam, I'm on another call or with a customer, leave a message."],
  ['This is Sam. I never listen to my voicemail, so leave your name in a text.'],
  ['Wenn Sie mir eine Nachricht hinterlassen, rufe ich zurück.', 'de'],
  ['Vous êtes bien sur mon répondeur, laissez un message.', 'fr'],
  ['U kunt een bericht achterlaten op mijn voicemail.', 'nl'],
]

t.test('people who say that they have no time are not classified as machines', (t) => {
  for (const ms of [2500, 3500, 4500])
    for (const [text, language] of people) {
      const found = verdict(text, ms, language)
      t.ok(found === 'human' || found === 'not_sure', `${found}: ${text} in ${ms}`)
    }
  t.end()
})

t.test('mailboxes whose greeting has an excuse are classified as machines', (t) => {
  // In a slow greeting the phrase that identifies a mailbox comes late.
  for (const ms of [4500, 5000, 9000])
    for (const [text, language] of machines) t.equal(verdict(text, ms, language), 'machine', `${text} in ${ms}`)
  t.end()
})
