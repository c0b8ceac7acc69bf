/** The embedded voice speaks symbols without an ASCII form, and no meaningful symbol is lost. */
import t from 'tap'
import { sentences } from '../../domain/speech/reading/sentences.ts'

const rows: [text: string, said: string][] = [
  ['Take ½ tablet', 'Take one half tablet'],
  ['Take 2½ tablets or 1 ¼', 'Take two and a half tablets or one and a quarter'],
  ['⅔ cup, 1⁄2 spoon', 'two thirds cup, one half spoon'],
  ['5 €', 'five euros'],
  ['It costs 5€.', 'It costs five euros.'],
  ['€1, 1 €, €1.50 and 11 €', 'one euro, one euro, one euro and fifty cents and eleven euros'],
  ['£5 and €3.50', 'five pounds and three euros and fifty cents'],
  ['¥500, 20 ₹ and 5 ¢', 'five hundred yen, twenty rupees and five cents'],
  ['It is −5 °C, not 20°F', 'It is minus five degrees Celsius, not twenty degrees Fahrenheit'],
  ['Turn 90°', 'Turn ninety degrees'],
  ['From 9–5 on 3 — 4', 'From nine to five on three to four'],
  ['Yes – really', 'Yes, really'],
  ['€10k, £2.5bn and €5 million', 'ten thousand euros, two point five billion pounds and five million euros'],
  ['€1 million, 1M €, ¥20bn', 'one million euros, one million euros, twenty billion yen'],
  ['About 10 k€', 'About ten thousand euros'],
  ['€1.5 billion, £3tn, ₹2 lakh', 'one point five billion euros, three trillion pounds, two lakh rupees'],
  ['€5 more, €5 m, £10 bonus', 'five euros more, five euros m, ten pounds bonus'],
  ['€5–10 or £2–3k', 'five to ten euros or two to three thousand pounds'],
  ['€100 – €200, 5 €–10 €', 'one hundred euros to two hundred euros, five euros to ten euros'],
  ['Call 555–1234 or 555 – 1200', 'Call five five five, one two three four or five five five, one two zero zero'],
  [
    '1–800–555–1234, (212) 555–1234, 212 555–123',
    'one, eight zero zero, five five five, one two three four, two one two, five five five, one two three four, two one two, five five five, one two three',
  ],
  [
    '+49 30–1234567 and 030–123',
    'plus four nine, three zero, one two three, four five six seven and zero three zero, one two three',
  ],
  ['On 2024–05–12', 'On May twelfth, twenty twenty four'],
  ['500–1000 of 1,000–2,500', 'five hundred to one thousand of one thousand to two thousand five hundred'],
  [
    '1990–95, 10.5–12.5, 09–17',
    'nineteen ninety to ninety five, ten point five to twelve point five, zero nine to seventeen',
  ],
  ['10:30–11:45', 'ten thirty to eleven forty five'],
  ['3 × 4 ÷ 2 ± 1', 'three times four divided by two plus or minus one'],
  ['a ≤ 5, b ≥ 6, c ≠ 7, d ≈ 8', 'a at most five, b at least six, c not equal to seven, d about eight'],
  ['20 m² and 5³', 'twenty square meters and five cubed'],
  ['Take 50 µg', 'Take fifty micrograms'],
  ['§ 5, № 7, 3 ‰', 'section five, number seven, three per mille'],
  ['Café naïve', 'Cafe naive'],
  ['½–¾ cup, 1½–2 cups', 'one half to three quarters cup, one and a half to two cups'],
  ['A ⅓-inch cut, ⅒ of it', 'A one third-inch cut, one tenth of it'],
  ['€1½, £3½ and 2 ½ €', 'one and a half euros, three and a half pounds and two and a half euros'],
  ['5€50, 5 € 20 £', 'five euros and fifty cents, five euros twenty pounds'],
  ['฿100, ₱1, 1,000円 100元', 'one hundred baht, one peso, one thousand yen one hundred yuan'],
  [
    '10⁻³, 10⁶, x⁴ and (a+b)²',
    'ten to the power of minus three, ten to the power of six, x to the power of four and (a plus b) squared',
  ],
  ['Ca²⁺ and a note¹', 'Ca two plus and a note one'],
  ['6′2″, 5\'11" and a 5½″ pipe', 'six feet two inches, five feet eleven inches and a five and a half inches pipe'],
  ['40° 26′ 46″ N, 1′30″', 'forty degrees twenty six minutes forty six seconds N, one minute thirty seconds'],
  ['2 · 3, 4⋅5, 3 ∶ 1', 'two times three, four times five, three to one'],
  ['ΔT of 5 Å at α', 'delta T of five angstroms at alpha'],
  ['√16, ∛27, 5 Ω', 'square root of sixteen, cube root of twenty seven, five ohms'],
  ['Milk ✅ and bread ❌', 'Milk yes and bread no'],
]

t.test('symbols that change the meaning of a text, such as € and −, are spoken as words', (t) => {
  for (const [text, said] of rows) {
    const [first] = sentences(text, { language: 'en', charsMax: 300 })
    t.equal(first?.text, said, text)
    const end = first?.sourcePlace(said.length) ?? 0
    t.ok(end >= text.length - 1, 'the text is said up to its last sign')
  }
  t.end()
})

t.test('hostile texts full of symbols and numbers are normalized within the time limit', (t) => {
  for (const unit of [
    '1′',
    '½–',
    '1⁻',
    '5€',
    'α',
    '1',
    '1.',
    '1,000',
    '1-',
    '1–',
    '555–',
    '1 (',
    '1k',
    '€1',
    '– ',
    ' ',
    '1 ',
    '1\u00a0',
  ]) {
    const text = `a${unit.repeat(20_000 / unit.length)}b`
    const begun = process.cpuUsage()
    sentences(text, { language: 'en', charsMax: 300 })
    t.ok(process.cpuUsage(begun).user < 500_000, `${JSON.stringify(unit)}: ${process.cpuUsage(begun).user} µs`)
  }
  t.end()
})
