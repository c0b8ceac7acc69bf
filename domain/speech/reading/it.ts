/** Italian units, symbols and abbreviations. */
import { currenciesOf } from './currencies.ts'
import { cardinal, fraction, genderOf, mixed } from './it-numbers.ts'
import { italianRules } from './it-rules.ts'
import type { Language } from './language.ts'
import { decimalsAsNumber, nounsOf } from './numbers.ts'
import { wordsOf } from './rule.ts'

const units = `
km | chilometro | chilometri
m | metro | metri
cm | centimetro | centimetri
mm | millimetro | millimetri
µm,μm | micrometro | micrometri
nm | nanometro | nanometri
km²,km2 | chilometro quadrato | chilometri quadrati
m²,m2,mq | metro quadrato | metri quadrati
cm²,cm2 | centimetro quadrato | centimetri quadrati
m³,m3,mc | metro cubo | metri cubi
cm³,cm3 | centimetro cubo | centimetri cubi
kg,Kg | chilogrammo | chilogrammi
g,gr | grammo | grammi
hg | ettogrammo | ettogrammi
mg | milligrammo | milligrammi
µg,μg | microgrammo | microgrammi
q | quintale | quintali
t | tonnellata | tonnellate | f
l,L | litro | litri
ml,mL | millilitro | millilitri
cl | centilitro | centilitri
dl | decilitro | decilitri
km/h | chilometro all'ora | chilometri all'ora
m/s | metro al secondo | metri al secondo
h | ora | ore | f
min,min. | minuto | minuti
s,sec,sec. | secondo | secondi
ms | millisecondo | millisecondi
µs,μs | microsecondo | microsecondi
gg,gg. | giorno | giorni
Hz | hertz | hertz
kHz | chilohertz | chilohertz
MHz | megahertz | megahertz
GHz | gigahertz | gigahertz
W | watt | watt
kW | chilowatt | chilowatt
MW | megawatt | megawatt
GW | gigawatt | gigawatt
kWh | chilowattora | chilowattora
V | volt | volt
kV | chilovolt | chilovolt
A | ampere | ampere
mA | milliampere | milliampere
mAh | milliamperora | milliamperora
Ω | ohm | ohm
KB,kB | kilobyte | kilobyte
MB | megabyte | megabyte
GB | gigabyte | gigabyte
TB | terabyte | terabyte
Mbps,Mbit/s,Mb/s | megabit al secondo | megabit al secondo
Gbps,Gbit/s | gigabit al secondo | gigabit al secondo
dB | decibel | decibel
cal | caloria | calorie | f
kcal | chilocaloria | chilocalorie | f
kJ | chilojoule | chilojoule
hPa | ettopascal | ettopascal
ha | ettaro | ettari
px | pixel | pixel
°C,° C,ºC,℃ | grado Celsius | gradi Celsius
°F,° F,ºF,℉ | grado Fahrenheit | gradi Fahrenheit
° | grado | gradi
′ | piede | piedi
″ | pollice | pollici
mese | mese | mesi
`

const currencies = `
EUR | euro | euro | centesimo | centesimi
USD | dollaro | dollari | centesimo | centesimi
GBP | sterlina | sterline | penny | pence | f
JPY | yen | yen
CHF | franco svizzero | franchi svizzeri | centesimo | centesimi
CAD | dollaro canadese | dollari canadesi | centesimo | centesimi
AUD | dollaro australiano | dollari australiani | centesimo | centesimi
NZD | dollaro neozelandese | dollari neozelandesi | centesimo | centesimi
HKD | dollaro di Hong Kong | dollari di Hong Kong | centesimo | centesimi
SGD | dollaro di Singapore | dollari di Singapore | centesimo | centesimi
CNY | yuan | yuan | fen | fen
INR | rupia | rupie | paisa | paisa | f
RUB | rublo | rubli | copeco | copechi
KRW | won | won
TRY | lira turca | lire turche | kuruş | kuruş | f
UAH | grivnia | grivnie | copeco | copechi | f
ILS | siclo | sicli | agora | agorot | m | f
THB | baht | baht | satang | satang
VND | dong | dong
NGN | naira | naira | kobo | kobo | f
PHP | peso filippino | pesos filippini | centavo | centavos
GHS | cedi | cedi | pesewa | pesewa
KZT | tenge | tenge | tiyn | tiyn
AZN | manat | manat | qapik | qapik
GEL | lari | lari | tetri | tetri
CRC | colón | colones | centesimo | centesimi
PYG | guaraní | guaraní
MNT | tugrik | tugrik
BTC | bitcoin | bitcoin
SEK | corona | corone | öre | öre | f
NOK | corona norvegese | corone norvegesi | öre | öre | f
DKK | corona danese | corone danesi | öre | öre | f
PLN | zloty | zloty | grosz | groszy
CZK | corona ceca | corone ceche | heller | heller | f
HUF | fiorino | fiorini
RON | leu | lei | ban | bani
BGN | lev | leva | stotinka | stotinki | m | f
MXN | peso messicano | pesos messicani | centavo | centavos
BRL | real | reais | centavo | centavos
ARS | peso argentino | pesos argentini | centavo | centavos
CLP | peso cileno | pesos cileni
COP | peso colombiano | pesos colombiani | centavo | centavos
PEN | sol | soles | centesimo | centesimi
ZAR | rand | rand | centesimo | centesimi
SAR | riyal | riyal | halala | halala
AED | dirham | dirham | fils | fils
EGP | sterlina egiziana | sterline egiziane | piastra | piastre | f | f
MAD | dirham marocchino | dirham marocchini | centesimo | centesimi
KES | scellino keniota | scellini kenioti | centesimo | centesimi
MYR | ringgit | ringgit | sen | sen
IDR | rupia indonesiana | rupie indonesiane | | | f
CENT | centesimo | centesimi
`

const scales = `
Mln,mln,M | milione | milioni
Mld,mld | miliardo | miliardi
mila | mila | mila
`

const signs = `
× | per
÷ | diviso
± | più o meno
− | meno
= | uguale
≤ | al massimo
≥ | almeno
≠ | diverso da
≈ ∼ ≃ | circa
≡ | identico a
< | minore di
> | maggiore di
≪ | molto minore di
≫ | molto maggiore di
→ ⇒ ➜ ➡ ⟶ | a
← ⇐ | da
↔ ⇔ | andata e ritorno
↑ | su
↓ | giù
∞ | infinito
√ | radice quadrata di
∛ | radice cubica di
∑ | somma di
∫ | integrale di
∂ | parziale
∆ | delta
∈ | in
∧ | e
∨ | o
¬ | non
⌀ | diametro
‱ | per diecimila
% ﹪ ％ | per cento
‰ | per mille
⁺ | più
⁻ | meno
§ | paragrafo
¶ | capoverso
№ | numero
& ＆ | e
@ | chiocciola
# | cancelletto
+ | più
* | asterisco
^ | elevato a
_ | trattino basso
\\ | barra inversa
~ | circa
© | copyright
® | marchio registrato
™ | marchio commerciale
℗ | copyright
† ‡ | nota
° º | gradi
ª | a
♯ | sharp
✓ ✔ ✅ ☑ | sì
❌ ✖ ✗ ✘ | no
µ | micro
Ω Ω | ohm
/ ⁄ ∕ | barra
`

const addressSigns = `
. | punto
@ | chiocciola
- | trattino
_ | trattino basso
/ | barra
: | due punti
? | punto interrogativo
= | uguale
& | e
# | cancelletto
% | per cento
+ | più
~ | tilde
, | virgola
; | punto e virgola
! | punto esclamativo
* | asterisco
$ | dollaro
( | parentesi aperta
) | parentesi chiusa
' | apostrofo
\\ | barra inversa
`

const abbreviations = `
p.es. P.es. | per esempio
es. Es. | esempio
ad.es. | ad esempio
ecc. etc. | eccetera.
Sig. sig. | signor
Sig.ra sig.ra | signora
Sig.na sig.na | signorina
Sigg. | signori
Dott. dott. | dottor
Dott.ssa dott.ssa | dottoressa
Dr. | dottor
Dr.ssa | dottoressa
Prof. prof. | professor
Prof.ssa prof.ssa | professoressa
Ing. ing. | ingegner
Avv. avv. | avvocato
Arch. arch. | architetto
Geom. | geometra
Rag. | ragionier
On. | onorevole
Egr. | egregio
Gent. | gentile
Gent.ma | gentilissima
Spett. | spettabile
S. | san
art. Art. | articolo
cap. Cap. | capitolo
fig. Fig. | figura
vol. Vol. | volume
tel. Tel. | telefono
cell. Cell. | cellulare
int. Int. | interno
ca. | circa
max. | massimo
min. | minimo
incl. | incluso
escl. | escluso
cfr. | confronta
vs. | contro
a.C. | avanti Cristo.
d.C. | dopo Cristo.
S.p.A. SpA | società per azioni.
S.r.l. Srl | società a responsabilità limitata.
V.le v.le | viale
P.za P.zza p.za p.zza | piazza
C.so c.so | corso
L.go | largo
c.m. | corrente mese.
u.s. | ultimo scorso.
p.v. | prossimo venturo.
N.B. | nota bene
`

export const it: Language = {
  tag: 'it',
  decimalMark: ',',
  groupMarks: ". \\u00a0\\u202f'’",
  isAscii: false,
  phrases: {
    minus: 'meno',
    plus: 'più',
    to: 'a',
    point: 'virgola',
    dot: 'punto',
    per: 'per',
    number: 'numero',
    hashtag: 'hashtag',
    squared: 'al quadrato',
    cubed: 'al cubo',
    power: 'elevato a',
    foreign: 'parola straniera',
    sign: 'simbolo',
    extension: 'interno',
    and: 'e',
    or: 'o',
    ofScale: (scale, noun) => (scale === 'mila' ? `mila ${noun}` : `${scale} di ${noun}`),
    money: (major, { amount }) => `${major} e ${amount}`,
    letters: (letters) => letters.join(' '),
  },
  cardinal,
  decimals: (digits) => decimalsAsNumber(digits, cardinal),
  year: cardinal,
  phoneGroup: (digits) => [...digits].map((digit) => cardinal(digit)).join(' '),
  fraction,
  mixed,
  genderOf,
  units: nounsOf(units),
  currencies: currenciesOf(currencies),
  scales: nounsOf(scales),
  signs: wordsOf(signs),
  addressSigns: wordsOf(addressSigns),
  abbreviations: wordsOf(abbreviations),
  codeWords: 'codice|pin|password|digita|digiti|digitare|componga|prema|premi|interno|volo|chiama|chiami',
  versionWord: 'versione',
  rules: italianRules,
}
