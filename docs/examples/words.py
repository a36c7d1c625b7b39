# Counts words, slowly and then quickly: an example of docs/first-day.md.
words = ("one two three four five six seven eight nine ten " * 200).split()


def slowly():
    counts = []
    for word in words:
        for pair in counts:
            if pair[0] == word:
                pair[1] += 1
                break
        else:
            counts.append([word, 1])
    return dict(counts)


def quickly():
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


assert slowly() == quickly()
print(len(quickly()), "words")
