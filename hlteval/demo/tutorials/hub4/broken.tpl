<TEMPLATE-G01-1> :=
    DOC_NR: G01 ##15#18#
    EVENT: <GAME-G01-1>
<GAME-G01-1> :=
    WINNER: "Old Mill" ##39#47#
    LOSER: "North End" ##58#67#
    score: "3-0 in" ##68#74#
    PLACE: "Port Ilva" ##75#84#
<TEMPLATE-G02-1> :=
    DOC_NR: G02 ##15#18#
    EVENT: <GAME-G02-1>
<GAME-G02-1> :=
    WINNER: "North End" ##39#48#
    LOSER: "Old Mill" ##59#67#
<TEMPLATE-G03-1> :=
    DOC_NR: G03 ##15#18#
    EVENT: <GAME-G03-1>
<GAME-G03-1> :=
    WINNER: "Lakeside" ##39#47#
    LOSER: "Old Mill" ##58#66#
    SCORE: "3-0" ##67#70#
    PLACE: "Dorun" ##74#79#
<TEMPLATE-G04-1> :=
    DOC_NR: G04 ##15#18#
    EVENT: <GAME-G04-1>
<GAME-G04-1> :=
    WINNER: "Harbour" ##39#46#
    LOSER: "Riverside" ##57#66#
<TEMPLATE-G05-1> :=
    DOC_NR: G05 ##15#18#
    EVENT: <GAME-G05-1>
<GAME-G05-1> :=
    WINNER: "Harbour" ##39#46#
    LOSER: "North End" ##57#66#
    SCORE: "3-1" ##67#70#
    PLACE: "Mirena" ##74#80#
<TEMPLATE-G06-1> :=
    DOC_NR: G06 ##15#18#
    EVENT: <GAME-G06-1>
<GAME-G06-1> :=
    WINNER: "North End" ##39#48#
    LOSER: "Lakeside" ##59#67#
    SCORE: "4-1" ##68#71#
    PLACE: "Dorun" ##75#80#
<TEMPLATE-G07-1> :=
    DOC_NR: G07 ##15#18#
    EVENT: <GAME-G07-1>
<GAME-G07-1> :=
    WINNER: "Lakeside" ##39#47#
    LOSER: "Harbour" ##58#65#
    SCORE: "2-1" ##66#69#
    PLACE: "Dorun" ##73#78#
<TEMPLATE-G08-1> :=
    DOC_NR: G08 ##15#18#
    EVENT: <GAME-G08-1>
<GAME-G08-1> :=
    WINNER: "Lakeside" ##39#47#
    SCORE: "5-0" ##66#69#
    PLACE: "Mirena" ##73#79#
<TEMPLATE-G09-1> :=
    DOC_NR: G09 ##15#18#
    EVENT: <GAME-G09-1>
<GAME-G09-1> :=
    WINNER: "Harbour" ##39#46#
    LOSER: "Lakeside" ##57#65#
    SCORE: "4-0" ##66#69#
    PLACE: "Mirena" ##73#79#
<TEMPLATE-G10-1> :=
    DOC_NR: G10 ##15#18#
    EVENT: <GAME-G10-1>
<GAME-G10-1> :=
    WINNER: "Lakeside" ##39#47#
    LOSER: "Harbour" ##58#65#
    SCORE: "6-1" ##66#69#
    CROWD: "500 people" ##86#96#
<TEMPLATE-G11-1> :=
    DOC_NR: G11 ##15#18#
    EVENT: <GAME-G11-1>
<GAME-G11-1> :=
    WINNER: "Old Mill" ##39#47#
    LOSER: "Harbour 3-" ##58#68#
    SCORE: "3-0" ##66#69#
    PLACE: "Dorun" ##73#78#
<TEMPLATE-G12-1> :=
    DOC_NR: G12 ##15#18#
    EVENT: <GAME-G12-1>
<GAME-G12-1> :=
    LOSER: "Harbour" ##58#65#
    PLACE: "Sarvan" ##73#79#
