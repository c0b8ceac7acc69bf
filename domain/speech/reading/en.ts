/** English number words, units and symbols. */
import { currenciesOf } from './currencies.ts'
import { cardinal, fraction, mixed, ones, year } from './en-numbers.ts'
import { englishRules } from './en-rules.ts'
import type { Language } from './language.ts'
import { nounsOf } from './numbers.ts'
import { wordsOf } from './rule.ts'

const units = `
km | kilometer | kilometers
m | meter | meters
cm | centimeter | centimeters
mm | millimeter | millimeters
µm,μm | micrometer | micrometers
nm | nanometer | nanometers
km²,km2 | square kilometer | square kilometers
m²,m2,sqm,sq m | square meter | square meters
cm²,cm2 | square centimeter | square centimeters
m³,m3 | cubic meter | cubic meters
cm³,cm3 | cubic centimeter | cubic centimeters
ft²,ft2,sq ft,sqft,sq. ft. | square foot | square feet
ft,ft. | foot | feet
in² | square inch | square inches
yd,yds | yard | yards
mi | mile | miles
kg,KG,Kg | kilogram | kilograms
g | gram | grams
mg | milligram | milligrams
µg,μg,mcg | microgram | micrograms
t | ton | tons
lb,lbs,lb.,lbs. | pound | pounds
oz,oz. | ounce | ounces
fl oz,fl. oz. | fluid ounce | fluid ounces
l,L | liter | liters
ml,mL | milliliter | milliliters
cl,cL | centiliter | centiliters
dl,dL | deciliter | deciliters
µl,μl,µL | microliter | microliters
gal | gallon | gallons
tbsp,tbsp. | tablespoon | tablespoons
tsp,tsp. | teaspoon | teaspoons
km/h,kph,kmh | kilometer per hour | kilometers per hour
m/s | meter per second | meters per second
mph | mile per hour | miles per hour
h,hr,hrs,hr.,hrs. | hour | hours
min,mins,min. | minute | minutes
s,sec,secs,sec. | second | seconds
ms | millisecond | milliseconds
µs,μs | microsecond | microseconds
ns | nanosecond | nanoseconds
yr,yrs | year | years
wk,wks | week | weeks
mo,mos | month | months
Hz | hertz | hertz
kHz | kilohertz | kilohertz
MHz | megahertz | megahertz
GHz | gigahertz | gigahertz
W | watt | watts
kW | kilowatt | kilowatts
MW | megawatt | megawatts
GW | gigawatt | gigawatts
kWh | kilowatt hour | kilowatt hours
Wh | watt hour | watt hours
V | volt | volts
mV | millivolt | millivolts
kV | kilovolt | kilovolts
mA | milliamp | milliamps
mAh | milliamp hour | milliamp hours
Ω | ohm | ohms
KB,kB | kilobyte | kilobytes
MB | megabyte | megabytes
GB | gigabyte | gigabytes
TB | terabyte | terabytes
PB | petabyte | petabytes
kbps,kbit/s | kilobit per second | kilobits per second
Mbps,Mbit/s,Mb/s | megabit per second | megabits per second
Gbps,Gbit/s,Gb/s | gigabit per second | gigabits per second
dB | decibel | decibels
cal | calorie | calories
kcal | kilocalorie | kilocalories
kJ | kilojoule | kilojoules
psi | pound per square inch | pounds per square inch
rpm | revolution per minute | revolutions per minute
bpm | beat per minute | beats per minute
fps | frame per second | frames per second
ppm | part per million | parts per million
px | pixel | pixels
dpi | dot per inch | dots per inch
Pa | pascal | pascals
hPa | hectopascal | hectopascals
kPa | kilopascal | kilopascals
ha | hectare | hectares
Å,Å | angstrom | angstroms
°C,° C,ºC,℃ | degree Celsius | degrees Celsius
°F,° F,ºF,℉ | degree Fahrenheit | degrees Fahrenheit
°,º | degree | degrees
′ | foot | feet
″,in. | inch | inches
pp | percentage point | percentage points
`

const currencies = `
USD | dollar | dollars | cent | cents
EUR | euro | euros | cent | cents
GBP | pound | pounds | penny | pence
JPY | yen | yen
CHF | Swiss franc | Swiss francs | centime | centimes
CAD | Canadian dollar | Canadian dollars | cent | cents
AUD | Australian dollar | Australian dollars | cent | cents
NZD | New Zealand dollar | New Zealand dollars | cent | cents
HKD | Hong Kong dollar | Hong Kong dollars | cent | cents
SGD | Singapore dollar | Singapore dollars | cent | cents
TWD | Taiwan dollar | Taiwan dollars | cent | cents
CNY | yuan | yuan | fen | fen
INR | rupee | rupees | paisa | paise
PKR | Pakistani rupee | Pakistani rupees | paisa | paise
RUB | ruble | rubles | kopek | kopeks
KRW | won | won
TRY | lira | lira | kurus | kurus
UAH | hryvnia | hryvnias | kopek | kopeks
ILS | shekel | shekels | agora | agorot
THB | baht | baht | satang | satang
VND | dong | dong
NGN | naira | naira | kobo | kobo
PHP | peso | pesos | centavo | centavos
GHS | cedi | cedis | pesewa | pesewas
KZT | tenge | tenge | tiyn | tiyn
AZN | manat | manat | qepik | qepik
GEL | lari | lari | tetri | tetri
CRC | colon | colons | centimo | centimos
PYG | guarani | guaranis
MNT | tugrik | tugriks
BTC | bitcoin | bitcoins
SEK | krona | kronor | ore | ore
NOK | Norwegian krone | Norwegian kroner | ore | ore
DKK | Danish krone | Danish kroner | ore | ore
PLN | zloty | zlotys | grosz | groszy
CZK | Czech koruna | Czech korunas | haler | halers
HUF | forint | forints
RON | Romanian leu | Romanian lei | ban | bani
BGN | lev | leva | stotinka | stotinki
MXN | Mexican peso | Mexican pesos | centavo | centavos
BRL | real | reais | centavo | centavos
ARS | Argentine peso | Argentine pesos | centavo | centavos
CLP | Chilean peso | Chilean pesos
COP | Colombian peso | Colombian pesos | centavo | centavos
PEN | sol | soles | centimo | centimos
ZAR | rand | rand | cent | cents
SAR | riyal | riyals | halala | halalas
AED | dirham | dirhams | fils | fils
QAR | Qatari riyal | Qatari riyals | dirham | dirhams
EGP | Egyptian pound | Egyptian pounds | piaster | piasters
MAD | Moroccan dirham | Moroccan dirhams | centime | centimes
KES | Kenyan shilling | Kenyan shillings | cent | cents
MYR | ringgit | ringgit | sen | sen
IDR | rupiah | rupiah
CENT | cent | cents
`

const scales = `
million,mn,mln,m,M | million | million
billion,bn,b,B | billion | billion
trillion,tn,tr,T | trillion | trillion
lakh | lakh | lakh
crore | crore | crore
hundred | hundred | hundred
thousand | thousand | thousand
`

const signs = `
× | times
÷ | divided by
± | plus or minus
− | minus
= | equals
≤ | at most
≥ | at least
≠ | not equal to
≈ ∼ ≃ | about
≡ | identical to
< | less than
> | greater than
≪ | much less than
≫ | much more than
→ ⇒ ➜ ➡ ⟶ | to
← ⇐ | from
↔ ⇔ | to and from
↑ | up
↓ | down
∞ | infinity
√ | square root of
∛ | cube root of
∑ | sum of
∫ | integral of
∂ | partial
∆ | delta
∈ | in
∧ | and
∨ | or
¬ | not
⌀ | diameter
‱ | per ten thousand
% ﹪ ％ | percent
‰ | per mille
⁺ | plus
⁻ | minus
§ | section
¶ | paragraph
№ | number
& ＆ | and
@ | at
# | pound
+ | plus
* | star
^ | to the power of
_ | underscore
\\ | backslash
~ | about
© | copyright
® | registered
™ | trademark
℗ | copyright
† ‡ | note
° º | degrees
ª | a
✓ ✔ ✅ ☑ | yes
❌ ✖ ✗ ✘ | no
µ | micro
Ω Ω | ohms
/ ⁄ ∕ | slash
`

const addressSigns = `
. | dot
@ | at
- | dash
_ | underscore
/ | slash
: | colon
? | question mark
= | equals
& | and
# | hash
% | percent
+ | plus
~ | tilde
, | comma
; | semicolon
! | exclamation mark
* | star
$ | dollar
( | open parenthesis
) | close parenthesis
' | apostrophe
\\ | backslash
`

const abbreviations = `
Mr. | Mister
Mrs. | Missus
Ms. | Miz
Mx. | Mix
Dr. | Doctor
Drs. | Doctors
Prof. | Professor
Jr. | Junior.
Sr. | Senior.
Rev. | Reverend
Gen. | General
Gov. | Governor
Sen. | Senator
Capt. | Captain
Col. | Colonel
Lt. | Lieutenant
Maj. | Major
Sgt. | Sergeant
Cpl. | Corporal
Ave. | Avenue.
Blvd. | Boulevard.
Rd. | Road.
Ln. | Lane.
Hwy. | Highway.
Pkwy. | Parkway.
Apt. | Apartment
Bldg. | Building
Mt. | Mount
Ft. | Fort
Inc. | Incorporated.
Ltd. | Limited.
Corp. | Corporation.
Co. | Company.
Bros. | Brothers.
Dept. | Department
Univ. | University
Assn. | Association
e.g. eg. | for example
i.e. ie. | that is
etc. | et cetera.
vs. | versus
approx. | approximately
appt. | appointment.
appts. | appointments.
acct. | account
ca. | circa
misc. | miscellaneous
ref. Ref. | reference
est. | established
incl. | including
excl. | excluding
max. | maximum
min. | minimum
avg. | average
temp. | temperature
tel. Tel. | telephone
ext. Ext. | extension
Fig. fig. | figure
Vol. vol. | volume
Ch. ch. | chapter
Sec. sec. | section
a.k.a. | also known as
Ph.D. | P H D.
P.O. | P O
`

export const en: Language = {
  tag: 'en',
  decimalMark: '.',
  groupMarks: ',',
  isAscii: true,
  phrases: {
    minus: 'minus',
    plus: 'plus',
    to: 'to',
    point: 'point',
    dot: 'dot',
    per: 'per',
    number: 'number',
    hashtag: 'hashtag',
    squared: 'squared',
    cubed: 'cubed',
    power: 'to the power of',
    foreign: 'foreign word',
    sign: 'symbol',
    extension: 'extension',
    and: 'and',
    or: 'or',
    ofScale: (scale, noun) => `${scale} ${noun}`,
    money: (major, { amount, noun }) => `${major} and ${amount} ${noun}`,
    letters: (letters) => letters.join(' '),
  },
  cardinal,
  decimals: (digits) => [...digits].map((digit) => ones[Number(digit)]).join(' '),
  year,
  phoneGroup: (digits) => [...digits].map((digit) => ones[Number(digit)]).join(' '),
  fraction,
  mixed,
  genderOf: () => undefined,
  units: nounsOf(units),
  currencies: currenciesOf(currencies),
  scales: nounsOf(scales),
  signs: wordsOf(signs),
  addressSigns: wordsOf(addressSigns),
  abbreviations: wordsOf(abbreviations),
  codeWords: 'code|pin|otp|password|passcode|dial|call|press|text|extension|flight|gate|cvv|cvc|ssn|ending in|ends in',
  versionWord: 'version',
  rules: (language) => englishRules(language, 'month'),
}

/** English outside of the USA: "3/4/2024" is a day in April. */
export const enWithDayFirst: Language = { ...en, rules: (language) => englishRules(language, 'day') }
