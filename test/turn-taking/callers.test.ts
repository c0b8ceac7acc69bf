/**
 * Tests that the agent does not take a caller's pause inside a number, a name, an address, a hesitation or a request
 * for the end of the turn. The callers are simulated, on a test clock.
 */
import t from 'tap'

import { converse, pipeline } from '../conversation/setup.ts'

/** Callers breathe this long between groups. It is longer than the wait after a complete sentence. */
const pauseMs = 900
/**
 * The agent decides that the turn is over this long after a complete sentence: `minDelay`, and a frame of 32 ms each
 * way.
 */
const atOnceMs = { least: 250, most: 350 }

/**
 * Each text has `|` where the caller pauses. The caller's last group ends the turn. Simulated recognition takes the
 * same word twice in a row for one, so no text has such a word.
 */
const callers: Record<string, string[]> = {
  en: [
    'My number is 212 | 555 | 1234.',
    'The card number is 4111 | 1111 | 1111 | 1111.',
    'My name is Smith, S M | I T H',
    'My email is john dot smith | at example dot com.',
    'Let me think. | At eight, please.',
    'Um | yes.',
    'Could you please | call me back tomorrow.',
    'Hold on a second | I have it here.',
    'My account number is one two | three four | five six seven eight',
    'My IBAN is GB29 | NWBK 6016 1331 9268 19',
  ],
  de: [
    'Meine Nummer ist 0171 | 123 | 4567.',
    'Meine Kartennummer lautet 4111 | 1111 | 1111 | 1111.',
    'Mein Name ist Maier, M A | I E R',
    'Meine Mailadresse ist anna ät | beispiel punkt de.',
    'Moment mal. | Um acht, bitte.',
    'Äh | ja.',
    'Könnten Sie bitte | morgen zurückrufen.',
    'Lassen Sie mich überlegen. | Am Montag.',
    'Meine Kundennummer ist vier | sieben | eins zwei',
    'Ich hätte gern einen Tisch für | zwei Personen.',
  ],
  es: [
    'Mi número es 612 | 345 | 678.',
    'Mi tarjeta es la 4111 | 1111 | 1111 | 1111.',
    'Me llamo Ruiz, R U | I Z',
    'Mi correo es ana arroba | ejemplo punto com.',
    'A ver. | A las ocho.',
    'Este | sí.',
    'Me podría | llamar mañana.',
    'Déjeme pensar. | El lunes.',
    'Mi número es seiscientos doce | treinta y cuatro | cincuenta y seis | setenta y ocho',
    'Quisiera una mesa para | dos personas.',
  ],
  fr: [
    'Mon numéro est 06 12 | 34 56 | 78.',
    'Ma carte est la 4111 | 1111 | 1111 | 1111.',
    "Je m'appelle Petit, P E | T I T",
    'Mon mail est anne arobase | exemple point fr.',
    'Attendez. | À huit heures.',
    'Euh | oui.',
    'Est-ce que vous pourriez | me rappeler demain.',
    'Laissez-moi réfléchir. | Lundi.',
    'Mon numéro est zéro six douze | trente-quatre | cinquante-six | soixante-dix-huit',
    'Je voudrais une table pour | deux personnes.',
  ],
  it: [
    'Il mio numero è 333 | 123 | 4567.',
    'La mia carta è la 4111 | 1111 | 1111 | 1111.',
    'Mi chiamo Bruni, B R | U N I',
    'La mia mail è anna chiocciola | esempio punto it.',
    'Un attimo. | Alle otto.',
    'Ehm | sì.',
    'Potrebbe | richiamarmi domani.',
    'Mi faccia pensare. | Lunedì.',
    'Il mio numero è tre quattro sette | uno due tre | quarantacinque sessantasette',
    'Vorrei un tavolo per | due persone.',
  ],
}

const sentences: Record<string, string[]> = {
  en: ['I would like a table for two.', 'Yes.', 'At 10:30.', 'Yes, I am.', 'That is all I need.'],
  de: ['Ich hätte gern einen Tisch für zwei.', 'Ja.', 'Um 14:30.', 'Ich nehme das.', 'Das weiß ich.'],
  es: ['Quisiera una mesa para dos.', 'Sí.', 'A las 10:30.', 'Quiero este.', 'No puedo.'],
  fr: ['Je voudrais une table pour deux.', 'Oui.', 'À 10:30.', "J'en veux un.", 'Je suis pour.'],
  it: ['Vorrei un tavolo per due.', 'Sì.', 'Alle 10:30.', 'Vorrei questo.', 'Non posso.'],
}

for (const [language, texts] of Object.entries(callers))
  for (const text of texts)
    t.test(`${language}: a caller's pauses inside these words do not end the turn: ${text}`, async (t) => {
      const { sim, record } = converse({ settings: { intent: { ...pipeline.intent, language } } })
      const groups = text.split(' | ')
      for (const [at, group] of groups.entries()) {
        if (at > 0) sim.pause(pauseMs)
        sim.say(group)
      }
      await sim.until(() => record.turns.length === 2)
      t.equal(record.turns[0]?.text, groups.join(' '))
    })

for (const [language, texts] of Object.entries(sentences))
  for (const text of texts)
    t.test(`${language}: a complete sentence ends the turn at once: ${text}`, async (t) => {
      const { sim, record } = converse({ settings: { intent: { ...pipeline.intent, language } } })
      sim.say(text)
      await sim.until(() => record.turns.length === 2)
      const eouMs = record.turns[1]?.eouMs ?? 0
      t.ok(eouMs >= atOnceMs.least && eouMs <= atOnceMs.most, `${eouMs} ms`)
    })
