/** German units, symbols and abbreviations. */
import { currenciesOf } from './currencies.ts'
import { cardinal, fraction, genderOf, mixed, year } from './de-numbers.ts'
import { germanRules } from './de-rules.ts'
import type { Language } from './language.ts'
import { nounsOf } from './numbers.ts'
import { wordsOf } from './rule.ts'

const units = `
km | Kilometer
m | Meter
cm | Zentimeter
mm | Millimeter
µm,μm | Mikrometer
nm | Nanometer
km²,km2,qkm | Quadratkilometer
m²,m2,qm | Quadratmeter
cm²,cm2 | Quadratzentimeter
m³,m3 | Kubikmeter
cm³,cm3 | Kubikzentimeter
kg | Kilogramm | Kilogramm | n
g | Gramm | Gramm | n
mg | Milligramm | Milligramm | n
µg,μg | Mikrogramm | Mikrogramm | n
t | Tonne | Tonnen | f
Pfd. | Pfund | Pfund | n
l,L | Liter
ml,mL | Milliliter
cl | Zentiliter
dl | Deziliter
hl | Hektoliter
EL | Esslöffel
TL | Teelöffel
km/h | Kilometer pro Stunde
m/s | Meter pro Sekunde
h,Std.,Std | Stunde | Stunden | f
min,Min.,Min | Minute | Minuten | f
s,sec,Sek.,Sek | Sekunde | Sekunden | f
ms | Millisekunde | Millisekunden | f
µs,μs | Mikrosekunde | Mikrosekunden | f
Hz | Hertz | Hertz | n
kHz | Kilohertz | Kilohertz | n
MHz | Megahertz | Megahertz | n
GHz | Gigahertz | Gigahertz | n
W | Watt | Watt | n
kW | Kilowatt | Kilowatt | n
MW | Megawatt | Megawatt | n
GW | Gigawatt | Gigawatt | n
kWh | Kilowattstunde | Kilowattstunden | f
PS | P S
V | Volt | Volt | n
kV | Kilovolt | Kilovolt | n
A | Ampere | Ampere | n
mA | Milliampere | Milliampere | n
mAh | Milliamperestunde | Milliamperestunden | f
Ω | Ohm | Ohm | n
KB,kB | Kilobyte | Kilobyte | n
MB | Megabyte | Megabyte | n
GB | Gigabyte | Gigabyte | n
TB | Terabyte | Terabyte | n
kbit/s | Kilobit pro Sekunde | Kilobit pro Sekunde | n
Mbit/s,MBit/s | Megabit pro Sekunde | Megabit pro Sekunde | n
Gbit/s | Gigabit pro Sekunde | Gigabit pro Sekunde | n
dB | Dezibel | Dezibel | n
kcal | Kilokalorie | Kilokalorien | f
cal | Kalorie | Kalorien | f
kJ | Kilojoule | Kilojoule | n
hPa | Hektopascal | Hektopascal | n
kPa | Kilopascal | Kilopascal | n
ha | Hektar | Hektar | n
px | Pixel | Pixel | n
°C,° C,ºC,℃ | Grad Celsius | Grad Celsius | n
°F,° F,ºF,℉ | Grad Fahrenheit | Grad Fahrenheit | n
°,º | Grad | Grad | n
′ | Fuß
″ | Zoll
Tsd.,Tsd | Tausend | Tausend | n
`

const currencies = `
EUR | Euro | Euro | Cent | Cent
USD | Dollar | Dollar | Cent | Cent
GBP | Pfund | Pfund | Penny | Pence | n
JPY | Yen | Yen
CHF | Franken | Franken | Rappen | Rappen
CAD | kanadischer Dollar | kanadische Dollar | Cent | Cent
AUD | australischer Dollar | australische Dollar | Cent | Cent
NZD | Neuseeland-Dollar | Neuseeland-Dollar | Cent | Cent
HKD | Hongkong-Dollar | Hongkong-Dollar | Cent | Cent
SGD | Singapur-Dollar | Singapur-Dollar | Cent | Cent
CNY | Yuan | Yuan | Fen | Fen
INR | Rupie | Rupien | Paisa | Paise | f
RUB | Rubel | Rubel | Kopeke | Kopeken | m | f
KRW | Won | Won
TRY | Lira | Lira | Kuruş | Kuruş | f
UAH | Hrywnja | Hrywnja | Kopeke | Kopeken | f | f
ILS | Schekel | Schekel | Agora | Agorot | m | f
THB | Baht | Baht | Satang | Satang
VND | Dong | Dong
NGN | Naira | Naira | Kobo | Kobo
PHP | Peso | Pesos | Centavo | Centavos
GHS | Cedi | Cedi | Pesewa | Pesewas
KZT | Tenge | Tenge | Tiyn | Tiyn
AZN | Manat | Manat | Qäpik | Qäpik
GEL | Lari | Lari | Tetri | Tetri
CRC | Colón | Colones | Céntimo | Céntimos
PYG | Guaraní | Guaraníes
MNT | Tugrik | Tugrik
BTC | Bitcoin | Bitcoin
SEK | Krone | Kronen | Öre | Öre | f
NOK | norwegische Krone | norwegische Kronen | Öre | Öre | f
DKK | dänische Krone | dänische Kronen | Öre | Öre | f
PLN | Zloty | Zloty | Grosch | Groschen
CZK | tschechische Krone | tschechische Kronen | Heller | Heller | f
HUF | Forint | Forint
RON | Leu | Lei | Ban | Bani
BGN | Lew | Lewa | Stotinka | Stotinki | m | f
MXN | mexikanischer Peso | mexikanische Pesos | Centavo | Centavos
BRL | Real | Reais | Centavo | Centavos
ARS | argentinischer Peso | argentinische Pesos | Centavo | Centavos
CLP | chilenischer Peso | chilenische Pesos
COP | kolumbianischer Peso | kolumbianische Pesos | Centavo | Centavos
PEN | Sol | Soles | Céntimo | Céntimos
ZAR | Rand | Rand | Cent | Cent
SAR | Riyal | Riyal | Halala | Halala
AED | Dirham | Dirham | Fils | Fils
EGP | ägyptisches Pfund | ägyptische Pfund | Piaster | Piaster | n
MAD | marokkanischer Dirham | marokkanische Dirham | Centime | Centimes
KES | Kenia-Schilling | Kenia-Schilling | Cent | Cent
MYR | Ringgit | Ringgit | Sen | Sen
IDR | Rupiah | Rupiah
CENT | Cent | Cent
`

const scales = `
Mio.,Mio,M | Million | Millionen | f
Mrd.,Mrd | Milliarde | Milliarden | f
Bio. | Billion | Billionen | f
Tsd.,Tsd | Tausend | Tausend | n
`

const signs = `
× | mal
÷ | geteilt durch
± | plus minus
− | minus
= | gleich
≤ | höchstens
≥ | mindestens
≠ | ungleich
≈ ∼ ≃ | etwa
≡ | identisch mit
< | kleiner als
> | größer als
≪ | viel kleiner als
≫ | viel größer als
→ ⇒ ➜ ➡ ⟶ | nach
← ⇐ | von
↔ ⇔ | hin und zurück
↑ | aufwärts
↓ | abwärts
∞ | unendlich
√ | Wurzel aus
∛ | dritte Wurzel aus
∑ | Summe von
∫ | Integral von
∂ | partiell
∆ | Delta
∈ | in
∧ | und
∨ | oder
¬ | nicht
⌀ | Durchmesser
‱ | pro Zehntausend
% ﹪ ％ | Prozent
‰ | Promille
⁺ | plus
⁻ | minus
§§ | Paragrafen
§ | Paragraf
¶ | Absatz
№ | Nummer
& ＆ | und
@ | ät
# | Raute
+ | plus
* | Stern
^ | hoch
_ | Unterstrich
\\ | Rückwärtsschrägstrich
~ | etwa
© | Copyright
® | eingetragene Marke
™ | Warenzeichen
℗ | Copyright
† | gestorben
‡ | Anmerkung
° º | Grad
ª | a
♯ | Sharp
✓ ✔ ✅ ☑ | ja
❌ ✖ ✗ ✘ | nein
µ | Mikro
Ω Ω | Ohm
/ ⁄ ∕ | Schrägstrich
`

const addressSigns = `
. | Punkt
@ | ät
- | Bindestrich
_ | Unterstrich
/ | Schrägstrich
: | Doppelpunkt
? | Fragezeichen
= | gleich
& | und
# | Raute
% | Prozent
+ | plus
~ | Tilde
, | Komma
; | Semikolon
! | Ausrufezeichen
* | Stern
$ | Dollar
( | Klammer auf
) | Klammer zu
' | Apostroph
\\ | Rückwärtsschrägstrich
`

const abbreviations = `
z.B. | zum Beispiel
d.h. | das heißt
u.a. | unter anderem
u.Ä. u.ä. | und Ähnliches.
o.Ä. o.ä. | oder Ähnliches.
u.U. | unter Umständen
i.d.R. | in der Regel
i.A. | im Auftrag
m.E. | meines Erachtens
z.T. | zum Teil
z.Zt. z.Z. | zur Zeit
v.a. | vor allem
s.o. | siehe oben.
s.u. | siehe unten.
v.Chr. | vor Christus.
n.Chr. | nach Christus.
usw. u.s.w. | und so weiter.
usf. | und so fort.
etc. | et cetera.
bzw. | beziehungsweise
bzgl. | bezüglich
ca. | circa
evtl. | eventuell
ggf. | gegebenenfalls
inkl. | inklusive
exkl. | exklusive
zzgl. | zuzüglich
abzgl. | abzüglich
mind. | mindestens
max. | maximal
min. | minimal
vgl. | vergleiche
sog. | sogenannt
insb. | insbesondere
geb. | geboren
gest. | gestorben
Nr. | Nummer
Nrn. | Nummern
Tel. | Telefon
Str. | Straße.
Pl. | Platz.
Dr. | Doktor
Prof. | Professor
Dipl.-Ing. | Diplomingenieur
Hr. | Herr
Hrn. | Herrn
Fr. | Frau
Fa. | Firma
Co. | Co
Abt. | Abteilung
Abb. | Abbildung
Abs. | Absatz
Art. | Artikel
Bd. | Band
Kap. | Kapitel
Hrsg. | Herausgeber
Jh. | Jahrhundert.
St. | Sankt
Std. | Stunden
Min. | Minuten
Sek. | Sekunden
Mio. | Millionen
Mrd. | Milliarden
Tsd. | Tausend
MwSt. | Mehrwertsteuer.
PLZ | Postleitzahl
jr. jun. | junior.
sen. | senior.
`

export const de: Language = {
  tag: 'de',
  decimalMark: ',',
  groupMarks: ".\\u00a0\\u202f'’",
  isAscii: false,
  phrases: {
    minus: 'minus',
    plus: 'plus',
    to: 'bis',
    point: 'Komma',
    dot: 'Punkt',
    per: 'pro',
    number: 'Nummer',
    hashtag: 'Hashtag',
    squared: 'Quadrat',
    cubed: 'hoch drei',
    power: 'hoch',
    foreign: 'fremdes Wort',
    sign: 'Zeichen',
    extension: 'Durchwahl',
    and: 'und',
    or: 'oder',
    ofScale: (scale, noun) => `${scale} ${noun}`,
    money: (major, { amount }) => `${major} ${amount}`,
    letters: (letters) => letters.join(' '),
  },
  cardinal,
  decimals: (digits) => [...digits].map((digit) => cardinal(digit)).join(' '),
  year,
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
  codeWords: 'code|pin|tan|otp|kennwort|passwort|geheimzahl|taste|drücken|wählen|durchwahl|flug|endet auf|notruf',
  versionWord: 'Version',
  rules: germanRules,
}
