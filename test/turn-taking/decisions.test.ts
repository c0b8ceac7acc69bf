/**
 * Decisions to accept or decline a call in all languages with words for them, and a "yes, but later", which declines.
 */
import t from 'tap'
import { decisionIn } from '../../domain/conversation/words/decision-words.ts'
import { languages } from '../../domain/conversation/words/languages/languages.ts'

/** A yes, a no, a "yes, but later", and a question. */
const said: Readonly<Record<string, readonly [yes: string, no: string, later: string, neither: string]>> = {
  en: ['Yes, please.', 'No, thank you.', 'Yes, but not now.', 'Who is calling?'],
  de: ['Ja, bitte.', 'Nein, danke.', 'Ja, aber nicht jetzt.', 'Wer ruft an?'],
  es: ['Sí, claro.', 'No, gracias.', 'Sí, pero ahora no.', '¿Quién llama?'],
  fr: ['Oui, volontiers.', 'Non, merci.', 'Oui, mais pas maintenant.', 'Qui est à l’appareil ?'],
  it: ['Sì, volentieri.', 'No, grazie.', 'Sì, ma non adesso.', 'Chi parla?'],
  pt: ['Sim, claro.', 'Não, obrigado.', 'Sim, mas agora não.', 'Quem fala?'],
  nl: ['Ja, graag.', 'Nee, bedankt.', 'Ja, maar niet nu.', 'Wie belt er?'],
  ru: ['Да, конечно.', 'Нет, спасибо.', 'Да, но не сейчас.', 'Кто это?'],
  pl: ['Tak, proszę.', 'Nie, dziękuję.', 'Tak, ale nie teraz.', 'Kto dzwoni?'],
  sv: ['Ja, gärna.', 'Nej, tack.', 'Ja, men inte nu.', 'Vem är det?'],
  tr: ['Evet, bağlayın.', 'Hayır, teşekkürler.', 'Evet, ama şimdi değil.', 'Kim arıyor?'],
  ja: ['はい、つないでください。', 'いいえ、結構です。', 'はい、でも後で。', 'どちら様ですか'],
  zh: ['好的，请接进来。', '不，谢谢。', '好的，但是晚点。', '哪位'],
  ko: ['네, 연결해 주세요.', '아니요, 괜찮아요.', '네, 그런데 나중에 해 주세요.', '누구세요'],
  hi: ['हाँ, जोड़ दीजिए।', 'नहीं, धन्यवाद।', 'हाँ, लेकिन अभी नहीं।', 'कौन बोल रहा है'],
  ar: ['نعم، بالتأكيد.', 'لا، شكرا.', 'نعم، لكن ليس الآن.', 'من المتصل'],
}

t.test('in each language a yes accepts a call, and a no or a "later" declines it', (t) => {
  t.same(Object.keys(said), Object.keys(languages))
  for (const [language, [yes, no, later, neither]] of Object.entries(said)) {
    t.equal(decisionIn(yes, language), 'accepted', yes)
    t.equal(decisionIn(no, language), 'declined', no)
    t.equal(decisionIn(later, language), 'declined', later)
    t.equal(decisionIn(neither, language), null, neither)
  }
  t.end()
})

t.test('a "yes, but later" declines the call', (t) => {
  for (const text of ['Sure, just not right now.', 'Yes, later.', 'Okay, but call me another time.', 'Yes. Tomorrow.'])
    t.equal(decisionIn(text, 'en'), 'declined', text)
  for (const text of ['Yes, but be quick.', "Yes, I don't mind.", 'No problem, I am not busy.', 'Sure, no worries.'])
    t.equal(decisionIn(text, 'en'), 'accepted', text)
  t.end()
})

t.test('an English "yes" does not accept a call if the language has its own word list', (t) => {
  t.equal(decisionIn('Yes.', 'ru'), null)
  t.equal(decisionIn('No tak, proszę łączyć.', 'pl'), 'accepted')
  t.end()
})
