import { checkEveryday } from './check.ts'

checkEveryday('de', {
  beginnings: `
    Die Nummer lautet null eins sieben eins
    Telefon 0 4 0
    Ja, die Nummer ist die 0 1 5
    Meine Nummer wäre dann 0151
    Null eins fünf eins
    Die 0151
    Kartennummer 4 9 2 9
    Auf der Karte steht 4929
    Meine Kartennummer ist die vierzig null eins
    Ich heiße Nguyen, N G U
    Das ist N wie Nordpol
    N wie Nordpol, G wie Gustav, U
    Mit Doppel-M
    Schmitt mit zwei T
    Meine E-Mail lautet sam punkt
    sam punkt lee ät
    Also sam at
    Die Mail ist sam punkt lee at gmx punkt
    Die Straße ist
    Könnte ich bitte
    Wäre es vielleicht möglich
    Ich wollte nur
    Ich wollte mal fragen
    Ich würde gerne wissen
    Ich hätte da
    Können Sie mir vielleicht sagen
    Wie lange
    Um wie viel
    Ich muss
    Ich habe
    Kleinen Augenblick
    Ich schau mal eben nach
    Ich denke nach
    Ich denke kurz nach
    Momentchen
    Sekündchen
    Wie war das noch
    Hmm, also
    Äh, ja, äh
    Ich meine
    Die Bestätigungsnummer ist
    Das Kennzeichen ist B A
    Geboren am 4.
    Die Vertragsnummer ist V 1 2
    Meine Durchwahl ist
    Und dann
    Ich glaube
    Ich glaube, es war
    zwischen
    Ich bräuchte
    Guten Tag, mein Name ist
    Ich rufe an, weil
    Ich wollte fragen, ob`,
  sentences: `
    Ich möchte meinen Termin absagen.
    Mein Name ist Hans Müller.
    Ich wohne in der Hauptstraße 12.
    Um 15 Uhr.
    Ich habe zwei Kinder.
    Das war 2019.
    Ich bin 35 Jahre alt.
    Vielen Dank.
    Das passt mir.
    Nein, das ist alles.
    Ja, das stimmt.
    Wann haben Sie geöffnet?
    Montag um halb zehn.
    Zwei Pizzen bitte
    Meine Bestellung ist nicht angekommen.
    Ich möchte mit einem Menschen sprechen.
    Sonst nichts, danke.
    Fünfzehn.
    Fünf.
    Ja, mache ich.
    Keine Ahnung.
    Das ist für meine Mutter.
    Am 5. Mai.
    Ein Tisch für sechs.
    Gegen 19:45 Uhr.
    Morgen früh
    Ja, das ist meine Nummer.
    Das klingt gut.
    Ich habe gestern angerufen.
    Zimmer 204.
    Der Preis war 49,99.
    Ich habe eine Stunde gewartet.
    20 Euro.
    Am zwölften.
    Eigentlich nicht.
    Ja, gerne.
    Ich warte seit Montag.
    Ich bin Neukunde.
    Hallo.
    Guten Morgen.
    Ich habe meine PIN vergessen.
    Kann ich mit Karte zahlen?
    Mein Handy ist kaputt.
    Wir sind vier.
    Ein oder zwei.
    Ja, kann ich.
    Ich habe keine.
    Das habe ich vergessen.
    Wer ist da?
    Ich glaube schon.
    Danke, tschüss.
    Das mache ich.
    Das geht nicht.
    Wie geht es Ihnen?
    Gut, und Ihnen?
    Rufen Sie mich bitte an.
    Ich bin einverstanden.
    Bitte stornieren Sie das.
    Das war es.
    Das ist mir egal.
    Ich verstehe Sie nicht.
    Ich melde mich wieder
    Nehmen Sie das mit
    Schicken Sie es mir zu.
    Das kann ich Ihnen nicht sagen.
    Das muss ich.
    Ich warte kurz.
    Das habe ich.
    Ja, ich habe.
    Mein Auto ist kaputt.
    Die Antwort ist nein.
    Mein Sohn ist fünf.
    Die Adresse ist richtig.
    Ich bin 1980 geboren.
    Meine Tochter ist 12.
    Das will ich nicht.
    Ich rufe Sie an.
    Ich hole es ab.
    Da bin ich.
    Das sehe ich.
    Wir sehen uns.
    Bis dann.
    Bis morgen.
    Auf Wiedersehen.
    Doppelzimmer bitte.
    Ich suche eine Wohnung.
    Das weiß ich noch.
    Ich kenne ihn.
    So machen wir das.
    Ich habe eine.
    Es tut mir leid.
    Sagen Sie es mir.
    Ich möchte nichts.
    Ich nehme beide.
    Das war ich.
    Ich komme um 10.
    Das ist mein Name.
    Ich habe zwei.
    Geben Sie mir beide.
    Das sind vier.
    Ich denke schon.
    Na gut.
    Ist gut.
    Ja genau.`,
})
